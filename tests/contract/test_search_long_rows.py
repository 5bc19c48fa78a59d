"""A word that very many passages of a document hold is kept in parts, and found and forgotten as one."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from alembic import command
from sqlalchemy import Connection, column, func, insert, select
from sqlalchemy import table as sa_table

from memoranda.access.store import add_organization
from memoranda.search import store
from memoranda.search.document import IndexedDocument, Passage, index_document
from memoranda.search.fetch.store import rows_of
from memoranda.search.plan import Limits
from memoranda.search.postings import MOST_BYTES
from memoranda.search.terms import read_query
from memoranda.storage import Storage, Transaction, migrate
from memoranda.storage.schema import alembic_config, migration_engine
from memoranda.storage.tables import search_postings, search_terms
from memoranda.words.ids import new_id
from tests.contract.storage_rows import new_organization
from tests.contract.test_conversation_migration import empty_url

__all__ = ["empty_url"]

BEFORE = "0029"
COLLECTION = "knowledge"
PASSAGES = 2_500
ROWS = select(func.count()).select_from(search_postings)
LONGEST = select(func.max(func.length(search_postings.c.postings)))
TERMS = select(func.count()).select_from(search_terms)


@pytest.fixture(scope="module")
def long() -> IndexedDocument:
    """A document of which every passage says `harbor`, and one says `lighthouse`."""
    return index_document(
        Passage(f"harbor {'lighthouse' if number == 2_000 else 'w' + str(number)}")
        for number in range(PASSAGES)
    )


def put(tx: Transaction, document_id: UUID, indexed: IndexedDocument) -> None:
    store.add_document(tx, COLLECTION, document_id, indexed)


async def number(storage: Storage, organization_id: UUID, statement: Any) -> int:
    [(found,)] = await storage.read(organization_id, Transaction.plain, statement)
    return int(found)


async def test_a_long_row_is_kept_in_parts_and_read_as_one(
    storage: Storage, long: IndexedDocument
) -> None:
    acme, other = await new_organization(storage), await new_organization(storage)
    document = new_id()
    for organization_id in (acme, other):
        await storage.write(organization_id, put, document, long)
    assert len(long.postings["harbor"]) > 3 * MOST_BYTES
    assert await number(storage, acme, LONGEST) <= MOST_BYTES
    read = await storage.read(acme, rows_of, COLLECTION, document, ["harbor", "lighthous", "no"])
    assert read == {term: long.postings[term] for term in ("harbor", "lighthous")}


@pytest.mark.parametrize("limits", [Limits(), Limits(rows=2, more=2)])
async def test_a_passage_far_behind_is_found_by_all_of_its_words(
    storage: Storage, long: IndexedDocument, limits: Limits
) -> None:
    acme, document = await new_organization(storage), new_id()
    await storage.write(acme, put, document, long)
    query = read_query("harbor lighthouse")
    for named in (None, [document]):
        found = await storage.read(
            acme, store.search, COLLECTION, query, limit=3, limits=limits, document_ids=named
        )
        assert (found[0].document_id, found[0].ordinal) == (document, 2_000)
        assert found[0].score > 0.9


async def test_what_is_removed_leaves_no_part_and_no_count(
    storage: Storage, long: IndexedDocument
) -> None:
    acme, document, short = await new_organization(storage), new_id(), new_id()
    one = index_document([Passage("harbor at night")])
    await storage.write(acme, put, short, one)
    before = [await number(storage, acme, each) for each in (ROWS, TERMS)]
    counts = await storage.read(acme, Transaction.all, select(search_terms))
    await storage.write(acme, put, document, long)
    await storage.write(acme, store.hide_document, COLLECTION, document)
    while await storage.write(acme, store.clear_terms, COLLECTION, document, 1_000) == 1_000:
        hits = await storage.read(acme, store.search, COLLECTION, read_query("harbor"), limit=9)
        assert [hit.document_id for hit in hits] == [short]
    assert [await number(storage, acme, each) for each in (ROWS, TERMS)] == before
    assert await storage.read(acme, Transaction.all, select(search_terms)) == counts


def old_rows(
    connection: Connection, organization_id: UUID, documents: list[UUID], row: bytes
) -> None:
    """A term's rows as the schema before kept them: each in one piece."""
    names = ("scope_id", "collection", "term", "document_id", "postings")
    before = sa_table(
        "search_postings", *(column(name, search_postings.c[name].type) for name in names)
    )
    for document in documents:
        values = (organization_id, COLLECTION, "harbor", document, row)
        connection.execute(insert(before).values(dict(zip(names, values, strict=True))))


def side_by_side(url: str) -> bool:
    """Whether the rows of a term stand side by side, by what the database says of its own schema."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(Path(url.removeprefix("sqlite:///")))) as file:
            [(made,)] = file.execute("SELECT sql FROM sqlite_master WHERE name = 'search_postings'")
            return "WITHOUT ROWID" in made
    with psycopg.connect(url) as server:
        named = "SELECT indexdef FROM pg_indexes WHERE indexname = %s"
        [(made,)] = server.execute(named, ("one_posting_per_term_and_document",))
        return bool(made.endswith("INCLUDE (postings)"))


async def test_an_upgrade_splits_long_rows_and_keeps_the_others(
    empty_url: str, long: IndexedDocument
) -> None:
    acme, other, documents = new_id(), new_id(), [new_id(), new_id()]
    engine = migration_engine(empty_url)
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), BEFORE)
        old_rows(connection, acme, documents, long.postings["harbor"])
        old_rows(
            connection, other, documents, index_document([Passage("harbor")]).postings["harbor"]
        )
    engine.dispose()
    migrate(empty_url)
    assert side_by_side(empty_url)
    storage = await Storage.open(empty_url)
    try:
        for organization_id in (acme, other):
            await storage.write(organization_id, add_organization, str(organization_id))
        for document in documents:
            read = await storage.read(acme, rows_of, COLLECTION, document, ["harbor"])
            assert read == {"harbor": long.postings["harbor"]}
        assert await number(storage, acme, LONGEST) <= MOST_BYTES
        assert await number(storage, other, ROWS) == len(documents)
    finally:
        await storage.close()
