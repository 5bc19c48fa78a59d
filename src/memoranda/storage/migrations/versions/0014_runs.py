"""How runs end, what they waited for, what their results name, and the block that each was given."""

import sqlalchemy as sa
from alembic import op

from memoranda.storage.types import Json, UtcTime

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def _runs() -> None:
    for column in (
        sa.Column("result", Json(), nullable=True),
        sa.Column("waiting_reason", sa.Text(), nullable=True),
        sa.Column("failure_reason", sa.Text(), nullable=True),
        sa.Column("stage", sa.Integer(), server_default="0", nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=True),
        sa.Column("ended_at", UtcTime(), nullable=True),
    ):
        op.add_column("runs", column)
    op.create_index("runs_by_status", "runs", ["organization_id", "status", "id"])
    for name in ("user", "agent", "parent"):
        _of(name, f"runs_of_{name}s", "id")
    for name in ("user", "trigger"):
        _of(name, f"runs_of_{name}s_by_age", "created_at", "id")


def _of(name: str, index: str, *order: str) -> None:
    there = sa.text(f"{name}_id IS NOT NULL")
    columns = [f"{name}_id", "organization_id", *order]
    op.create_index(index, "runs", columns, sqlite_where=there, postgresql_where=there)


def _run_refs() -> None:
    op.create_table(
        "run_refs",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("ref_id", sa.String(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "run_id"],
            ["runs.organization_id", "runs.id"],
            name="a_ref_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="run_refs_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "ordinal", name="one_ref_per_place"),
    )
    op.create_index(
        "run_refs_by_row", "run_refs", ["organization_id", "kind", "ref_id", "created_at"]
    )


def _run_blocks() -> None:
    op.create_table(
        "run_blocks",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("digest", sa.String(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("policy", Json(), nullable=False),
        sa.Column("account", Json(), nullable=True),
        sa.Column("explain", Json(), nullable=True),
        sa.Column("built_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "run_id"],
            ["runs.organization_id", "runs.id"],
            name="a_block_stays_in_its_organization",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="run_blocks_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "stage", name="one_block_per_stage"),
    )
    there = sa.text("conversation_id IS NOT NULL")
    op.create_index(
        "run_blocks_of_conversations",
        "run_blocks",
        ["conversation_id", "organization_id", "built_at"],
        sqlite_where=there,
        postgresql_where=there,
    )


def _run_block_items() -> None:
    op.create_table(
        "run_block_items",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("ref_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="run_block_items_organization_id_exists",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["run_id", "stage"],
            ["run_blocks.run_id", "run_blocks.stage"],
            name="an_item_belongs_to_its_block",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "run_id", "stage", "kind", "ref_id", name="one_item_per_row_of_a_block"
        ),
    )
    op.create_index(
        "run_block_items_by_row", "run_block_items", ["organization_id", "kind", "ref_id"]
    )


def upgrade() -> None:
    _runs()
    _run_refs()
    _run_blocks()
    _run_block_items()
