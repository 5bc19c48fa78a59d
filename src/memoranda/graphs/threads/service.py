"""The verbs of threads: list them, look into one and its checkpoints, and delete one for good."""

from collections.abc import AsyncIterator, Collection
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.reach import EVERYBODY, Reach, reach_of
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.graphs.checkpoints.models import At
from memoranda.graphs.errors import NAMING, kept_for
from memoranda.graphs.limits import LONGEST_ID, LONGEST_NAMESPACE, name_input
from memoranda.graphs.threads import looking, store
from memoranda.graphs.threads.looking import Quoting
from memoranda.graphs.threads.models import (
    CheckpointPart,
    CheckpointSummary,
    GraphThread,
    ShownCheckpoint,
)
from memoranda.graphs.threads.store import BEGINNING, Part, Place
from memoranda.storage import Storage
from memoranda.words.cursor import read_named_cursor, read_owned_cursor
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, next_named
from memoranda.words.purged import RowsPurged
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

MOST_LISTED: Final = 200
MOST_SHOWN: Final = 1024 * 1024
"""Bytes of a checkpoint's parts that one answer shows."""
LAST_BYTE: Final = 2**31 - 1
_END: Final = chr(0x10FFFF) * LONGEST_ID
"""Comes after every id that a checkpoint may have."""
_LISTING: Final = "graph threads"
_CHECKPOINTS: Final = "checkpoints of a thread"


@checks_shapes
class GraphThreads:
    """The threads of graphs, for people: what a host's checkpointer keeps of each.

    A thread is one of a user, an agent, both or neither, and its id is known among theirs alone. A member's key
    sees those of its user, and an agent's those that are exactly its own.
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
    ) -> Page[GraphThread]:
        """Threads of the user and agent named (all that the caller sees, without), by whose they are and their ids.

        `limit` is 1 to 200. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_GRAPHS)
        reach = reach_of(who, user_id, agent_id)
        check_count("limit", limit, most=MOST_LISTED)
        after = read_owned_cursor(_LISTING, cursor)
        start = BEGINNING if after is None else Place(*after)
        places, items = await self._storage.read(
            organization, looking.page, reach, start, limit + 1
        )
        return Page(
            items=items[:limit],
            next_cursor=next_named(
                _LISTING, places, limit, lambda each: (str(each.holder_id), each.thread_id)
            ),
        )

    async def checkpoints(
        self,
        who: Principal,
        thread_id: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[CheckpointSummary]:
        """The checkpoints of a thread by their ids, the last first. Raises `NotFound`, and `Invalid` as `page`."""
        organization = organization_for(who, Permission.READ_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        name_input("thread_id", thread_id)
        check_count("limit", limit, most=MOST_LISTED)
        last_id, last_space = read_named_cursor(_CHECKPOINTS, cursor, 2) or (_END, "")
        found = await self._storage.read(
            organization, looking.checkpoints, subject, thread_id, (last_id, last_space), limit + 1
        )
        if found is None:
            raise unknown_thread(thread_id, subject)
        return Page(
            items=found[:limit],
            next_cursor=next_named(
                _CHECKPOINTS, found, limit, lambda each: (each.checkpoint_id, each.namespace)
            ),
        )

    async def checkpoint(
        self,
        who: Principal,
        at: At,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        after: int = 0,
        most: int = MOST_SHOWN,
    ) -> ShownCheckpoint:
        """A checkpoint (the latest of its thread's namespace where it names none) with what it is made of.

        Up to `most` bytes of its parts, 1 MB at the most, from the byte `after` on; `next_after` says where
        it goes on. Raises `NotFound`.
        """
        organization = organization_for(who, Permission.READ_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        check_at(at)
        check_count("most", most, most=MOST_SHOWN)
        if not 0 <= after <= LAST_BYTE:
            raise Invalid("after is the byte that was answered as next_after, or 0.", field="after")
        shown = await self._storage.read(organization, looking.shown, subject, at, after, most)
        if shown is None:
            raise NotFound(
                f"The thread {at.thread_id[:80]!r} has no such checkpoint {kept_for(subject)}: list those that "
                f"it has. {NAMING}",
                thread_id=at.thread_id[:80],
            )
        return shown

    async def purge(
        self,
        who: Principal,
        thread_id: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> RowsPurged:
        """Delete a thread for good, with its checkpoints and all that belongs to them. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        name_input("thread_id", thread_id)
        rows = await self._storage.write(organization, looking.purge, who, subject, thread_id)
        if not rows:
            raise unknown_thread(thread_id, subject)
        return RowsPurged(rows=rows, scrubbed=await self._storage.scrub())

    async def quoting(
        self, organization_id: UUID, texts: Collection[str], but: UUID | None = None
    ) -> list[Quoting]:
        """The threads that hold one of these texts, as far as what the host serialized can be read; none of the user `but`.

        For whoever has the right to see them all: nothing is changed here.
        """
        quotes, after = Quotes(texts), BEGINNING
        found: list[Quoting] = []
        while quotes and (
            places := await self._storage.read(
                organization_id, store.names, EVERYBODY, after, MOST_LISTED
            )
        ):
            for place in places:
                # One at a time, so that no one view of the database is held for long.
                each = await self._storage.read(organization_id, looking.quoting, quotes, place)
                if each is not None and (but is None or each.user_id != but):
                    found.append(each)
            after = places[-1]
        return found

    async def places(
        self, organization_id: UUID, reach: Reach
    ) -> AsyncIterator[tuple[Place, GraphThread]]:
        """Every thread within reach, one after the other, as they are when it is their turn."""
        after, more = BEGINNING, True
        while more:
            places, told = await self._storage.read(
                organization_id, looking.page, reach, after, MOST_LISTED
            )
            for each in zip(places, told, strict=True):
                yield each
            more = len(places) == MOST_LISTED
            after = places[-1] if places else after

    async def pieces(
        self, organization_id: UUID, place: Place
    ) -> AsyncIterator[tuple[str, CheckpointPart]]:
        """All that a thread holds, each part once with its namespace, and a long one in pieces of 1 MB.

        What is deleted meanwhile is left out.
        """
        for part in await self._storage.read(organization_id, looking.all_parts, place):
            for begin in range(0, max(part.bytes, 1), MOST_SHOWN):
                piece = await self._piece(organization_id, part, begin)
                if piece is None:
                    break
                yield part.namespace, piece

    async def _piece(self, organization_id: UUID, part: Part, begin: int) -> CheckpointPart | None:
        body = await self._storage.read(organization_id, store.body, part, begin, MOST_SHOWN)
        return None if body is None else looking.piece_of(part, begin, body)


def check_at(at: At) -> None:
    """Raise `Invalid` or `OverLimit` for names that no checkpoint has."""
    name_input("thread_id", at.thread_id)
    name_input("namespace", at.namespace, limit=LONGEST_NAMESPACE, blank=True)
    if at.checkpoint_id is not None:
        name_input("checkpoint_id", at.checkpoint_id, limit=LONGEST_ID)


def unknown_thread(thread_id: str, subject: ContextSubject) -> NotFound:
    """The refusal of a thread that is not there, or not for this subject."""
    return NotFound(
        f"There is no thread {thread_id[:80]!r} {kept_for(subject)}. {NAMING}",
        thread_id=thread_id[:80],
    )
