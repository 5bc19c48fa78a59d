"""The rows of a term stand side by side on disk: in the table itself, or in the index that holds them whole."""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_KEY = ("scope_id", "collection", "term", "document_id")
_MOST_BYTES = 2_000
_HEADER = 2
_BLOCK_BITS = 2
_copied = sa.table(
    "search_postings_copied",
    sa.column("scope_id", sa.Uuid()),
    sa.column("collection", sa.String()),
    sa.column("term", sa.String()),
    sa.column("document_id", sa.Uuid()),
    sa.column("postings", sa.LargeBinary()),
)


def upgrade() -> None:
    # By way of a copy: neither database can give a table another order, or a key another index, in its place.
    columns = ", ".join((*_KEY, "postings"))
    op.execute(f"CREATE TABLE search_postings_copied AS SELECT {columns} FROM search_postings")  # noqa: S608 - names alone
    op.drop_table("search_postings")
    made = op.create_table(
        "search_postings",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.String(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("part", sa.Integer(), server_default="0", nullable=False),
        sa.Column("postings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            *_KEY,
            "part",
            name="one_posting_per_term_and_document",
            postgresql_include=["postings"],
        ),
        sqlite_with_rowid=False,
    )
    op.execute(
        f"INSERT INTO search_postings ({columns}) SELECT {columns} FROM search_postings_copied "  # noqa: S608 - names and a number alone
        f"WHERE length(postings) <= {_MOST_BYTES} ORDER BY {', '.join(_KEY)}"
    )
    _split_long_rows(made)
    op.drop_table("search_postings_copied")
    op.create_index("search_postings_by_document", "search_postings", ["scope_id", "document_id"])


def _split_long_rows(made: sa.Table) -> None:
    long = sa.select(_copied).where(sa.func.length(_copied.c.postings) > _MOST_BYTES)
    for row in op.get_bind().execute(long).all():
        parts = enumerate(_parts(bytes(row.postings)))
        values = [{**row._asdict(), "part": part, "postings": packed} for part, packed in parts]
        op.get_bind().execute(sa.insert(made), values)


def _parts(packed: bytes) -> Iterator[bytes]:
    """The row in rows of at most so many bytes, none of which ends within a block of four passages."""
    width = packed[1]
    entries = (len(packed) - _HEADER) // (width + 1)
    counts = _HEADER + entries * width

    def block(entry: int) -> int:
        at = _HEADER + entry * width
        return int.from_bytes(packed[at : at + width], "little") >> _BLOCK_BITS

    start = 0
    while start < entries:
        end = min(entries, start + (_MOST_BYTES - _HEADER) // (width + 1))
        while end < entries and block(end) == block(end - 1):
            end -= 1
        ordinals = packed[_HEADER + start * width : _HEADER + end * width]
        yield packed[:_HEADER] + ordinals + packed[counts + start : counts + end]
        start = end
