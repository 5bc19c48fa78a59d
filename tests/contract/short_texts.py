"""Short texts to search in, and organizations that hold them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.access.store import add_organization
from memoranda.search.terms import read_passage, read_query
from memoranda.search.texts.store import TextHit, find, put
from memoranda.storage import Scope, Storage, Transaction
from memoranda.words.ids import new_id

COLLECTION = "memories"
THINGS = ["oak", "ash", "invoice", "hotel", "depot", "crate", "lamp", "window", "label", "desk"]
PLACES = ["Leeds", "York", "Bath", "Ripon", "Hexham", "Osaka", "Lisbon"]

QUERIES = [
    "oak desk in Leeds",
    "invoice",
    "which hotel has a window",
    "who brings the lamp, the label and the crate from the depot to the hotel in Osaka on Monday",
    "nothing-of-the-kind",
]


def texts(count: int, seed: int) -> list[str]:
    """Texts that share most words and differ in a few, so that ranking has something to do."""
    made = []
    for number in range(count):
        mix = number * 7 + seed
        things = [THINGS[(mix * step + step) % 10] for step in range(1, 2 + mix % 5)]
        made.append(f"The {' and the '.join(things)} {mix % 13} go to {PLACES[mix % 7]}")
    return made


def fill(tx: Transaction, content: Mapping[UUID, str], collection: str = COLLECTION) -> None:
    for item_id, text in content.items():
        put(tx, collection, item_id, read_passage(text), fresh=True)


def change(tx: Transaction, item_id: UUID, text: str) -> None:
    put(tx, COLLECTION, item_id, read_passage(text), fresh=False)


def numbered(content: Sequence[str]) -> dict[UUID, str]:
    return {new_id(): text for text in content}


async def organization(storage: Storage, content: Mapping[UUID, str]) -> UUID:
    organization_id = new_id()
    await storage.write(organization_id, add_organization, str(organization_id))
    await storage.write(organization_id, fill, content)
    return organization_id


async def found(
    storage: Storage, scope: Scope, query: str, total: int, **options: Any
) -> list[TextHit]:
    return await storage.read(scope, find, COLLECTION, read_query(query), total=total, **options)
