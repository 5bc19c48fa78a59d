"""The inverted index: one row per term and document, in the organization's own key range."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Uuid,
    false,
    text,
)

from memoranda.storage.scope import Tenant
from memoranda.storage.tables.base import count_column, table, time_column

# The platform's own rows hold the nil id here: a part of a primary key can't be NULL.
_TENANCY = Tenant("scope_id", platform="nil")


def _scope_column() -> Column[object]:
    return Column("scope_id", Uuid(), nullable=False)


# The rows of a term stand side by side on disk, ready to be read in one go: the table is in the key's order
# on SQLite, and the key's index holds whole rows on PostgreSQL, which is why a long one has parts.
search_postings = table(
    "search_postings",
    _scope_column(),
    Column("collection", String(), nullable=False),
    Column("term", String(), nullable=False),
    Column("document_id", Uuid(), nullable=False),
    count_column("part"),
    Column("postings", LargeBinary(), nullable=False),
    PrimaryKeyConstraint(
        "scope_id",
        "collection",
        "term",
        "document_id",
        "part",
        name="one_posting_per_term_and_document",
        postgresql_include=["postings"],
    ),
    Index("search_postings_by_document", "scope_id", "document_id"),
    tenancy=_TENANCY,
    sqlite_with_rowid=False,
)

search_documents = table(
    "search_documents",
    _scope_column(),
    Column("collection", String(), nullable=False),
    Column("document_id", Uuid(), nullable=False),
    count_column("passages", default=None),
    count_column("tokens", default=None),
    Column("lengths", LargeBinary(), nullable=False),
    PrimaryKeyConstraint("scope_id", "collection", "document_id", name="one_row_per_document"),
    tenancy=_TENANCY,
)

# How common a term is among the organization's own rows: picks the rarest terms, and weighs them.
search_terms = table(
    "search_terms",
    _scope_column(),
    Column("collection", String(), nullable=False),
    Column("term", String(), nullable=False),
    count_column("passages", default=None),
    count_column("windows", default=None),
    count_column("documents", default=None),
    PrimaryKeyConstraint("scope_id", "collection", "term", name="one_count_per_term"),
    tenancy=_TENANCY,
)

# How much there is to search, kept beside the rows so that no query has to add them up.
search_totals = table(
    "search_totals",
    _scope_column(),
    Column("collection", String(), nullable=False),
    count_column("documents", default=None),
    count_column("passages", default=None),
    count_column("tokens", default=None),
    PrimaryKeyConstraint("scope_id", "collection", name="one_total_per_collection"),
    tenancy=_TENANCY,
)

# One vector per text and model; without its vector, the row is the work of making it. `text_id` is the
# revision whose text it is of, and `stamp` grows with every change, so that a cache reads only what is new.
# `letters` tells what the text can't hold; it comes with the vector, and later in rows from before it was there.
search_vectors = table(
    "search_vectors",
    _scope_column(),
    Column("collection", String(), nullable=False),
    Column("item_id", Uuid(), nullable=False),
    Column("model", String(), nullable=False),
    Column("text_id", Uuid(), nullable=False),
    Column("vector", LargeBinary()),
    Column("letters", LargeBinary()),
    Column("stamp", BigInteger(), nullable=False),
    count_column("failures"),
    time_column("retry_at", nullable=True),
    Column("lease_owner", Uuid()),
    time_column("lease_until", nullable=True),
    PrimaryKeyConstraint(
        "scope_id", "collection", "item_id", "model", name="one_vector_per_item_and_model"
    ),
    Index("vectors_by_stamp", "scope_id", "collection", "model", "stamp"),
    Index(
        "vectors_to_make",
        "scope_id",
        "collection",
        "model",
        "item_id",
        sqlite_where=text("vector IS NULL"),
        postgresql_where=text("vector IS NULL"),
    ),
    Index(
        "letters_to_make",
        "scope_id",
        "collection",
        "model",
        "item_id",
        sqlite_where=text("vector IS NOT NULL AND letters IS NULL"),
        postgresql_where=text("vector IS NOT NULL AND letters IS NULL"),
    ),
    tenancy=_TENANCY,
)

# The model whose vectors answer searches, and the last stamp given out. A switch of models ends in one
# change of this row. `whole` says that every item has a row of that model for its present text.
search_models = table(
    "search_models",
    _scope_column(),
    Column("collection", String(), nullable=False),
    Column("model", String(), nullable=False),
    Column("stamp", BigInteger(), nullable=False),
    time_column("since"),
    Column("whole", Boolean(), nullable=False, server_default=false()),
    PrimaryKeyConstraint("scope_id", "collection", name="one_model_per_collection"),
    tenancy=_TENANCY,
)
