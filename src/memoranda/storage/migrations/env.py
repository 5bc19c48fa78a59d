"""Runs migrations on the connection that `memoranda.storage.migrate()` opened."""

from alembic import context

from memoranda.storage.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
