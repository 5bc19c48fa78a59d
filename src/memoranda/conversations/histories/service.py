"""The verbs of histories: write what a framework added, read a path, delete."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission
from memoranda.access.store import check_subject
from memoranda.conversations.histories import store
from memoranda.conversations.histories.models import History, HistoryEntry
from memoranda.conversations.owned import organization_of_host, user_of_host
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_storable, text_input

LONGEST_NAME: Final = 500


@checks_shapes
class Histories:
    """Keeps histories that branch, for hosts whose framework has its own form of messages.

    Each is a user's, or nobody's, and names are each owner's own. A path of entries holds at most
    `max_bytes`. Every verb raises `Refused` for an agent's key and for another user's.
    """

    def __init__(self, storage: Storage, *, max_bytes: int) -> None:
        self._storage = storage
        self._max_bytes = max_bytes

    async def find(
        self, who: Principal, name: str, *, user_id: UUID | None = None
    ) -> History | None:
        """The history of that name, if there is one."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_storable("name", name)
        return await self._storage.read(organization, store.find, user_of_host(who, user_id), name)

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        scope: str | None = None,
        limit: int | None = None,
    ) -> list[History]:
        """The histories of that scope, or all, the last written first, at most `limit`."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_storable("scope", scope or "")
        most = store.ALL if limit is None else max(0, limit)
        return await self._storage.read(
            organization, store.page, user_of_host(who, user_id), scope, most
        )

    async def path(
        self, who: Principal, head: str, *, user_id: UUID | None = None, limit: int | None = None
    ) -> list[HistoryEntry] | None:
        """The entries up to `head`, the oldest first, or the last `limit`; None where there is no such entry."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_storable("head", head)
        return await self._storage.read(
            organization, store.path, user_of_host(who, user_id), head, limit
        )

    async def entry(
        self, who: Principal, name: str, *, user_id: UUID | None = None
    ) -> HistoryEntry | None:
        """The entry of that name, if there is one."""
        organization = organization_of_host(who, Permission.READ_CONVERSATIONS)
        check_storable("name", name)
        return await self._storage.read(organization, store.entry, user_of_host(who, user_id), name)

    async def write(
        self,
        who: Principal,
        history: History,
        entries: Sequence[HistoryEntry] = (),
        *,
        expected_revision: str | None,
        user_id: UUID | None = None,
    ) -> None:
        """Add entries, each after the one that it names, and write the record: all of it or nothing.

        `expected_revision` is the one that was read, or None for a history that is not there yet.
        Raises `HistoryChanged` for another one and where a tip or a parent is not there, `ConversationTooLarge`,
        `NotFound` for an unknown user, `Invalid` and `OverLimit` with the field.
        """
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        text_input("name", history.name, limit=LONGEST_NAME)
        if history.scope is not None:
            text_input("scope", history.scope, limit=LONGEST_NAME)
        check_storable("record", history.record)
        check_storable("tips", "".join(history.tips))
        for each in entries:
            text_input("entries.name", each.name, limit=LONGEST_NAME)
            check_storable("entries.parent", each.parent or "")
            check_storable("entries.content", each.content)
        if history.updated_at.utcoffset() is None:
            raise Invalid("updated_at names no time zone.", field="updated_at")
        await self._storage.write(
            organization,
            _write,
            user_of_host(who, user_id),
            history,
            entries,
            expected=expected_revision,
            most_bytes=self._max_bytes,
        )

    async def delete(
        self, who: Principal, name: str, *, expected_revision: str, user_id: UUID | None = None
    ) -> None:
        """Delete a history, with the entries that no other one comes by. Raises `HistoryChanged`."""
        organization = organization_of_host(who, Permission.WRITE_CONVERSATIONS)
        check_storable("name", name)
        await self._storage.write(
            organization, store.remove, user_of_host(who, user_id), name, expected_revision
        )


def _write(
    tx: Transaction,
    user_id: UUID | None,
    history: History,
    entries: Sequence[HistoryEntry],
    *,
    expected: str | None,
    most_bytes: int,
) -> None:
    check_subject(tx, user_id=user_id, agent_id=None)
    store.write(tx, user_id, history, entries, expected=expected, most_bytes=most_bytes)
