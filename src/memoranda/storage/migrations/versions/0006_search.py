"""The inverted index."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def _search_postings() -> None:
    op.create_table(
        "search_postings",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("postings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "scope_id",
            "collection",
            "term",
            "document_id",
            name="one_posting_per_term_and_document",
        ),
    )


def _search_postings_indexes() -> None:
    with op.batch_alter_table("search_postings", schema=None) as batch_op:
        batch_op.create_index(
            "search_postings_by_document", ["scope_id", "document_id"], unique=False
        )


def _search_documents() -> None:
    op.create_table(
        "search_documents",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("lengths", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "scope_id", "collection", "document_id", name="one_row_per_document"
        ),
    )


def _search_terms() -> None:
    op.create_table(
        "search_terms",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("windows", sa.Integer(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "collection", "term", name="one_count_per_term"),
    )


def _search_totals() -> None:
    op.create_table(
        "search_totals",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "collection", name="one_total_per_collection"),
    )


def upgrade() -> None:
    _search_postings()
    _search_postings_indexes()
    _search_documents()
    _search_terms()
    _search_totals()
