"""The verbs of branches: read and write one, branch off from a turn, list, delete, and clear them all."""

from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.reach import Reach, reach_of
from memoranda.access.roles import Permission, organization_for
from memoranda.access.store import check_subject
from memoranda.conversations import places
from memoranda.conversations.branches import changing, store
from memoranda.conversations.branches.models import MAIN, Branch, KeptBranch
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.listeners import Listeners
from memoranda.conversations.models import Conversation, ConversationKey, Message, StoredMessage
from memoranda.conversations.preparing import turn_of
from memoranda.conversations.writing import Place
from memoranda.storage import ConstraintViolated, Storage
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Conflict, Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, optional_text_input, text_input
from memoranda.words.page import Page, cut_page
from memoranda.words.purged import RowsPurged

MOST_LISTED: Final = 200
_LISTING: Final = "branches"
MOST_READ: Final = 100_000
"""Messages that one reading may ask for."""


@checks_shapes
class Branches:
    """The ways in which the conversation of a key goes on.

    It begins as `main`, and is branched off from any turn of a user's. Each branch is a conversation of its
    own, whose first messages are those from before that turn. A name is given once, also after its
    branch has ended.
    """

    def __init__(self, storage: Storage, limits: ConversationLimits, listeners: Listeners) -> None:
        self._storage = storage
        self._limits = limits
        self._listeners = listeners

    async def messages(
        self,
        who: Principal,
        key: ConversationKey,
        *,
        branch: str = MAIN,
        latest: int | None = None,
        user_id: UUID | None = None,
    ) -> list[StoredMessage]:
        """A branch's messages exactly as stored, in their order; the last `latest` of them alone, where that is given.

        A key without a conversation has none. Raises `NotFound` for a branch that is not there, and `Gone`
        for one that was cleared.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        place = _place(who, key, user_id)
        if latest is not None and not 0 <= latest <= MOST_READ:
            raise Invalid(f"latest is between 0 and {MOST_READ}.", field="latest")
        return await self._storage.read(organization, changing.read, place, branch, latest)

    async def append(
        self,
        who: Principal,
        key: ConversationKey,
        messages: Sequence[Message],
        *,
        branch: str = MAIN,
        user_id: UUID | None = None,
    ) -> Conversation:
        """Add messages after the last one of a branch; all of them or none. Raises as `Conversations.append`."""
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place, turn = _place(who, key, user_id), turn_of(messages)
        most = self._limits.max_bytes
        try:
            longer = await self._storage.write(
                organization, changing.append, place, branch, turn, most
            )
        except ConstraintViolated:
            await self._check(place)
            raise
        self._listeners.tell(organization, "appended", longer)
        return longer

    async def take_last(
        self,
        who: Principal,
        key: ConversationKey,
        *,
        branch: str = MAIN,
        user_id: UUID | None = None,
    ) -> StoredMessage | None:
        """Take the last message out of a branch and answer it; None where there is none. Nobody else gets the same."""
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place, most = _place(who, key, user_id), self._limits.max_bytes
        taken = await self._storage.write(organization, changing.take_last, place, branch, most)
        if taken is None:
            return None
        shorter, message = taken
        self._listeners.tell(organization, "saved", shorter)
        return message

    async def create(
        self,
        who: Principal,
        key: ConversationKey,
        *,
        turn: int,
        name: str | None = None,
        source: str = MAIN,
        user_id: UUID | None = None,
    ) -> Branch:
        """Branch off before a turn of a user's, which counts from 1 on the `source`.

        Raises `NotFound` for a turn that is not there, and `Conflict` for a name that was given before.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place, most = _place(who, key, user_id), self._limits.max_bytes
        if name is not None:
            text_input("name", name)  # kept as it is, blanks around it too
        if name == MAIN:
            raise Conflict(f"The branch name {MAIN!r} has already been used here: choose another.")
        branch, made = await self._storage.write(
            organization, changing.branch_off, place, source, turn, name=name, most=most
        )
        self._listeners.tell(organization, "created", made)
        return branch

    async def listed(
        self, who: Principal, key: ConversationKey, *, user_id: UUID | None = None
    ) -> list[Branch]:
        """The branches that there are, `main` first; none for a key without a conversation."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, changing.listed, _place(who, key, user_id))

    async def page(
        self,
        who: Principal,
        *,
        workflow_id: str | None = None,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[KeptBranch]:
        """Branches of a workflow, or of all that the caller sees, the newest first.

        `limit` is 1 to 200. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        named = optional_text_input("workflow_id", workflow_id)
        reach = reach_of(who, user_id, agent_id)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        found = await self._storage.read(organization, store.page, reach, named, before, limit + 1)
        return cut_page(_LISTING, found, limit)

    async def kept(self, organization_id: UUID, reach: Reach) -> AsyncIterator[KeptBranch]:
        """Every branch within reach, the newest first, as they are when it is their turn."""
        before = None
        while some := await self._storage.read(
            organization_id, store.page, reach, None, before, MOST_LISTED
        ):
            for each in some:
                yield each
            before = some[-1].id

    async def delete(
        self, who: Principal, key: ConversationKey, name: str, *, user_id: UUID | None = None
    ) -> None:
        """Delete a branch, and for good what was said on it alone. Raises `NotFound`, and `Invalid` for `main`."""
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        if name == MAIN:
            raise Invalid(
                "The branch 'main' can't be deleted: clear the conversation.", field="name"
            )
        place = _place(who, key, user_id)
        gone = await self._storage.write(organization, changing.remove, place, name)
        self._listeners.tell(organization, "purged", *gone)

    async def purge(
        self, who: Principal, key: ConversationKey, name: str, *, user_id: UUID | None = None
    ) -> RowsPurged:
        """`delete`, and have its traces taken out of the database's files at once. Raises as `delete`."""
        await self.delete(who, key, name, user_id=user_id)
        return RowsPurged(rows=1, scrubbed=await self._storage.scrub())

    async def clear(
        self, who: Principal, key: ConversationKey, *, user_id: UUID | None = None
    ) -> None:
        """Take away all that was said on every branch, and every branch but `main`."""
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place = _place(who, key, user_id)
        cleared, gone = await self._storage.write(organization, changing.clear, place)
        if cleared is not None:
            self._listeners.tell(organization, "cleared", cleared)
        self._listeners.tell(organization, "purged", *gone)

    async def _check(self, place: Place) -> None:
        """Raise `NotFound` where a write named nobody that there is."""
        subject = place.subject
        await self._storage.read(
            subject.organization_id,
            check_subject,
            user_id=subject.user_id,
            agent_id=subject.agent_id,
        )


def _place(who: Principal, key: ConversationKey, user_id: UUID | None) -> Place:
    """The place of a key for the very user that is named: another user's conversation is not there."""
    place = places.place_of(who, key, user_id)
    seen, user = place.seen, place.subject.user_id
    if user is None:
        return place
    return place._replace(seen=lambda each: seen(each) and each.user_id == user)
