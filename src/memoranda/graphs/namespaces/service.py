"""The verbs of namespaces: list them and their items, show an item, and delete for good."""

from collections.abc import AsyncIterator, Collection
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.reach import EVERYBODY, NOBODY, Reach, reach_of
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.graphs.errors import NAMING, kept_for
from memoranda.graphs.holders import store as holders
from memoranda.graphs.items.checking import check_namespace
from memoranda.graphs.namespaces import store
from memoranda.graphs.namespaces.models import GraphNamespace, ItemSummary, ShownItem
from memoranda.graphs.namespaces.store import BEGINNING, Place
from memoranda.runs.store import record_activity
from memoranda.storage import Storage, Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.words.cursor import read_cursor, read_owned_cursor
from memoranda.words.errors import NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page, next_named
from memoranda.words.purged import RowsPurged
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

MOST_LISTED: Final = 200
AT_ONCE: Final = 10
"""Items whose values are in memory together; each has 1 MB at the most."""
PURGED: Final = "graph_items_purged"
_LISTING: Final = "graph namespaces"
_ITEMS: Final = "graph items"


@checks_shapes
class GraphNamespaces:
    """The items of graphs, for people: what a host's store keeps under which namespaces.

    They are kept for a user, an agent, both or neither. A member's key sees those of its user, and an agent's
    those that are exactly its own. What has expired is not there.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[GraphNamespace]:
        """Namespaces of the user and agent named (all that the caller sees, without), in their order.

        `limit` is 1 to 200. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_GRAPHS)
        reach = reach_of(who, user_id, agent_id)
        check_count("limit", limit, most=MOST_LISTED)
        after = read_owned_cursor(_LISTING, cursor)
        start = BEGINNING if after is None else Place(*after)
        places, found = await self._storage.read(organization, store.page, reach, start, limit + 1)
        return Page(
            items=found[:limit],
            next_cursor=next_named(
                _LISTING, places, limit, lambda each: (str(each.holder_id), each.name)
            ),
        )

    async def items(
        self,
        who: Principal,
        namespace: tuple[str, ...] = (),
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ItemSummary]:
        """Items below a namespace, without their values, the newest first; of whom, and what it raises, as `page`."""
        organization = organization_for(who, Permission.READ_GRAPHS)
        reach = reach_of(who, user_id, agent_id)
        check_namespace("namespace", namespace)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_ITEMS, cursor)
        found = await self._storage.read(
            organization, store.items, reach, namespace, before, limit + 1
        )
        return cut_page(_ITEMS, found, limit)

    async def item(self, who: Principal, item_id: UUID) -> ShownItem:
        """An item with its value. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_GRAPHS)
        found = await self._storage.read(organization, store.item, item_id)
        if found is None or not sees(who, user_id=found.user_id, agent_id=found.agent_id):
            raise _unknown(item_id)
        return found

    async def purge_item(self, who: Principal, item_id: UUID) -> RowsPurged:
        """Delete an item for good. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        rows = await self._storage.write(organization, _purge_item, who, item_id)
        return RowsPurged(rows=rows, scrubbed=await self._storage.scrub())

    async def purge(
        self,
        who: Principal,
        namespace: tuple[str, ...],
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> RowsPurged:
        """Delete for good all items below a namespace, of exactly this user and agent. Raises `NotFound` where there is none."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        check_namespace("namespace", namespace, empty=False)
        rows = await self._storage.write(organization, _purge, who, subject, namespace)
        if not rows:
            raise NotFound(f"There is no item below this namespace {kept_for(subject)}. {NAMING}")
        return RowsPurged(rows=rows, scrubbed=await self._storage.scrub())

    async def quoting(
        self, organization_id: UUID, texts: Collection[str], but: UUID | None = None
    ) -> list[UUID]:
        """The items that hold one of these texts, the oldest first; none of the user `but`.

        For whoever has the right to see them all: nothing is changed here.
        """
        quotes = Quotes(texts)
        if not quotes:
            return []
        return [
            each.id
            async for each in self.kept(organization_id, EVERYBODY)
            if (but is None or each.user_id != but)
            and quotes.are_in([each.namespace, each.key, each.value])
        ]

    async def kept(self, organization_id: UUID, reach: Reach) -> AsyncIterator[ShownItem]:
        """Every item within reach with its value, also those that have expired and are not deleted yet."""
        after = NOBODY
        while some := await self._storage.read(organization_id, store.kept, reach, after, AT_ONCE):
            for each in some:
                yield each
            after = some[-1].id


def _purge_item(tx: Transaction, who: Principal, item_id: UUID) -> int:
    there = store.item(tx, item_id)
    if there is None or not sees(who, user_id=there.user_id, agent_id=there.agent_id):
        raise _unknown(item_id)
    return _purged(tx, who, store.remove(tx, item_id))


def _purge(
    tx: Transaction, who: Principal, subject: ContextSubject, namespace: tuple[str, ...]
) -> int:
    holder = holders.find(tx, subject)
    return 0 if holder is None else _purged(tx, who, store.remove_below(tx, holder, namespace))


def _purged(tx: Transaction, who: Principal, rows: int) -> int:
    if rows:
        record_activity(tx, PURGED, user_id=who.user_id, agent_id=who.agent_id, rows=rows)
        signal(tx, SCRUB)
    return rows


def _unknown(item_id: UUID) -> NotFound:
    return NotFound(f"There is no item {item_id}: list those that there are.", item_id=str(item_id))
