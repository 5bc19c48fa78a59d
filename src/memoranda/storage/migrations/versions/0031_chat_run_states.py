"""What a run's events came to stands in a row of its own; runs of chats that ended are listed by indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_ENDED = sa.text("ended_at IS NOT NULL")


def _states() -> None:
    op.create_table(
        "chat_run_states",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "run_id", name="one_state_per_run"),
        sa.ForeignKeyConstraint(
            ["organization_id", "run_id"],
            ["chat_runs.organization_id", "chat_runs.id"],
            name="a_runs_state_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="chat_run_states_organization_id_exists",
            ondelete="CASCADE",
        ),
    )
    op.execute(
        "INSERT INTO chat_run_states (organization_id, run_id, state) "
        "SELECT organization_id, id, folded FROM chat_runs WHERE folded IS NOT NULL"
    )
    op.drop_column("chat_runs", "folded")


def _whose() -> None:
    for name in ("user_id", "agent_id"):
        op.add_column("chat_runs", sa.Column(name, sa.Uuid(), nullable=True))
        op.execute(
            f"UPDATE chat_runs SET {name} = "  # noqa: S608 - names alone
            f"(SELECT {name} FROM chats WHERE chats.id = chat_runs.chat_id)"
        )
    for index, first in (
        ("ended_chat_runs", "organization_id"),
        ("ended_chat_runs_of_users", "user_id"),
        ("ended_chat_runs_of_agents", "agent_id"),
    ):
        rest = (
            ["status", "id"] if first == "organization_id" else ["status", "organization_id", "id"]
        )
        op.create_index(
            index, "chat_runs", [first, *rest], sqlite_where=_ENDED, postgresql_where=_ENDED
        )


def upgrade() -> None:
    _states()
    _whose()
