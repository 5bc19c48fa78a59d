"""The values of a group arrive as one, in one order, the same on both databases and of nobody else's rows."""

from uuid import UUID

import pytest
from sqlalchemy import Integer, Text, func, select

from memoranda.access.store import add_organization
from memoranda.search import store
from memoranda.search.document import Passage, index_document
from memoranda.storage import Storage, Transaction, id_of_bytes, joined, joined_bytes
from memoranda.storage.tables import search_documents, search_postings, users
from memoranda.words.ids import new_id

TERMS = select(
    search_postings.c.term,
    joined(search_postings.c.document_id),
    joined(func.length(search_postings.c.postings, type_=Integer)),
    joined(search_postings.c.postings),
).group_by(search_postings.c.term)
DOCUMENTS = select(joined(search_documents.c.document_id), joined(search_documents.c.passages))


def fill(tx: Transaction, documents: dict[UUID, int]) -> None:
    for document_id, passages in documents.items():
        said = [Passage("harbor harbor light") for _ in range(passages)]
        store.add_document(tx, "knowledge", document_id, index_document(said))


def groups(tx: Transaction) -> dict[str, dict[UUID, bytes]]:
    found: dict[str, dict[UUID, bytes]] = {}
    for term, *values in tx.plain(TERMS):
        ids, sizes, packed = map(joined_bytes, values)
        begin = 0
        for place in range(len(ids) // 16):
            end = begin + int.from_bytes(sizes[4 * place : 4 * place + 4])
            document = id_of_bytes(ids[16 * place : 16 * place + 16])
            found.setdefault(term, {})[document] = packed[begin:end]
            begin = end
    return found


async def test_each_value_stands_where_its_row_stands_in_the_others(storage: Storage) -> None:
    documents = {new_id(): passages for passages in (1, 300, 2)}
    other = {new_id(): 7}
    for each in (documents, other):
        organization_id = new_id()
        await storage.write(organization_id, add_organization, str(organization_id))
        await storage.write(organization_id, fill, each)
        found = await storage.read(organization_id, groups)
        assert set(found) == {"harbor", "light"}
        for term in found:
            assert found[term] == {
                document: index_document([Passage("harbor harbor light")] * passages).postings[term]
                for document, passages in each.items()
            }
        [(ids, counts)] = await storage.read(organization_id, Transaction.plain, DOCUMENTS)
        ids, counts = joined_bytes(ids), joined_bytes(counts)
        told = {
            id_of_bytes(ids[16 * place : 16 * place + 16]): int.from_bytes(
                counts[4 * place : 4 * place + 4]
            )
            for place in range(len(each))
        }
        assert told == each


async def test_of_no_rows_there_are_no_bytes(storage: Storage) -> None:
    organization_id = new_id()
    await storage.write(organization_id, add_organization, "Empty")
    [row] = await storage.read(organization_id, Transaction.plain, DOCUMENTS)
    assert [joined_bytes(value) for value in row] == [b"", b""]
    assert await storage.read(organization_id, groups) == {}


def test_only_ids_numbers_and_bytes_are_joined() -> None:
    with pytest.raises(TypeError, match="ids, whole numbers and bytes"):
        joined(users.c.name)
    with pytest.raises(TypeError):
        joined(func.lower(users.c.name, type_=Text))


def test_a_statement_of_joined_values_can_be_printed() -> None:
    assert "joined(search_documents.passages)" in str(DOCUMENTS)
