"""The verbs that take memories away: erase one or a user's, forget all, purge what is long forgotten."""

from collections.abc import Awaitable, Callable, Collection
from operator import add
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.memories.announce import Changed, announce, nobody
from memoranda.memories.candidate import Author
from memoranda.memories.races import write_again
from memoranda.memories.removal import store
from memoranda.memories.removal.clearing import store as clearing
from memoranda.memories.removal.models import (
    NOTHING_ELSEWHERE,
    AlsoErased,
    Elsewhere,
    Erased,
    QuotedInKept,
    QuotingFile,
)
from memoranda.memories.removal.store import Removed
from memoranda.memories.ways import DEFAULT_WAYS, Ways
from memoranda.storage import Storage
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes

Quoting: TypeAlias = Callable[[UUID, Collection[str], UUID | None], Awaitable[list[UUID]]]
"""Finds the conversations of an organization that hold one of these texts, but for a user's."""

CONFIRMED: Final = "FORGET ALL"
AT_ONCE: Final = 500
"""How many memories one transaction removes for good."""
NOTHING_ELSE: Final = AlsoErased()


class _Quoted(NamedTuple):
    """Where what is erased is quoted."""

    conversations: list[UUID]
    chats: list[UUID]
    sections: list[UUID]
    dossier: bool
    files: list[QuotingFile]
    kept: QuotedInKept


@checks_shapes
class Removal:
    """Takes memories away, for owners and for the night.

    `quoting` finds the conversations that quote a text, and `elsewhere` takes along what other rooms
    keep about a memory, and finds where the dossier and context files quote it. After each commit `changed` and
    `evict` are called with the organization: to tell listeners, and to have what this
    process keeps in memory of its vectors forgotten.
    """

    def __init__(
        self,
        storage: Storage,
        ways: Ways = DEFAULT_WAYS,
        *,
        quoting: Quoting,
        changed: Changed = nobody,
        evict: Changed = nobody,
        elsewhere: Elsewhere = NOTHING_ELSEWHERE,
    ) -> None:
        self._storage = storage
        self._ways = ways
        self._quoting = quoting
        self._changed = changed
        self._evict = evict
        self._elsewhere = elsewhere

    async def erase(self, who: Principal, memory_id: UUID) -> Erased:
        """Purge a memory at once, forgotten or not: its history, words, vectors, and proposals like it.

        A memory that was moved or merged is one with those that it went into and came from,
        at whichever of its versions: all of them go. Revisions are only ever added, so that a
        chain goes as a whole: one that was used again goes with what it says by now. Forgotten
        memories of the same audience that said the same go too; what is live or proposed for
        another audience is another fact, and stays. What stays is that there was one. Erasing
        again what is purged already finishes what could not be scrubbed. For owners; raises `NotFound`.
        """
        organization = organization_for(who, Permission.ERASE_MEMORIES)
        texts = await self._storage.read(organization, store.texts_of_memory, memory_id)
        # Before, so that nothing that fails can hide that it is done.
        quoted = await self._quoted(organization, texts)
        removed = await write_again(
            self._storage,
            organization,
            store.erase,
            memory_id,
            _by(who),
            self._ways,
            elsewhere=self._elsewhere,
        )
        return await self._erased(organization, removed, quoted)

    async def erase_user(self, who: Principal, user_id: UUID) -> Erased:
        """Purge all that is for this user: every memory and proposal, with what they were moved from, and what was said.

        The user's conversations, chats, section of the dossier, and what agent frameworks and graphs keep for
        the user go, are counted, and are not among what quotes it. The user and its keys stay.
        What the user wrote for others stays, and so does a memory that was moved to others as
        long as it lives there; what was forgotten there since, or went on elsewhere, goes. A
        memory that once moved to the user goes as a whole, also where its attribute was used
        again and it says something else to others by now.
        For owners; raises `NotFound` for an unknown user. One that is stopped halfway has
        purged some whole memories, and the next goes on.
        """
        organization = organization_for(who, Permission.ERASE_MEMORIES)
        texts = await self._storage.read(organization, store.texts_of_user, user_id)
        # The user's own section goes with what is erased.
        quoted = await self._quoted(organization, texts, but=user_id)
        removed, also = Removed(), NOTHING_ELSE
        while True:
            some, beside = await write_again(
                self._storage,
                organization,
                store.erase_some_of_user,
                user_id,
                AT_ONCE,
                _by(who),
                self._ways,
                elsewhere=self._elsewhere,
            )
            removed = Removed(removed.memories + some.memories, removed.proposals + some.proposals)
            also = AlsoErased(*map(add, also, beside))
            if some.memories < AT_ONCE:
                return await self._erased(organization, removed, quoted, also)

    async def forget_all(self, who: Principal, confirm: str) -> int:
        """Forget every active memory and discard every waiting proposal of the organization; how many memories.

        All of it or nothing, and nothing else changes; each may be restored for 30 days.
        `confirm` must be `FORGET ALL`, letter for letter, or it raises `Invalid`. For owners;
        raises `TooOften` at the fourth time within an hour.
        """
        organization = organization_for(who, Permission.ERASE_MEMORIES)
        if confirm != CONFIRMED:
            raise Invalid(
                f"Nothing was forgotten: confirm has to be {CONFIRMED!r}, letter for letter.",
                field="confirm",
            )
        done = await write_again(
            self._storage, organization, clearing.forget_all, _by(who), self._ways
        )
        self._tell(organization)
        return done

    async def purge_due(self, organization_id: UUID, most: int = AT_ONCE) -> int:
        """Purge what was forgotten or discarded more than 30 days ago, up to `most` of each; how much went.

        Their last traces go with the next scrub of the database.
        """
        removed = await write_again(
            self._storage,
            organization_id,
            store.purge_due,
            most,
            self._ways,
            elsewhere=self._elsewhere,
        )
        if any(removed):
            self._tell(organization_id)
        return sum(removed)

    async def _quoted(
        self, organization: UUID, texts: Collection[str], but: UUID | None = None
    ) -> _Quoted:
        conversations = await self._quoting(organization, texts, but)
        sections, whole = await self._elsewhere.in_dossier(organization, texts)
        files = [
            QuotingFile(
                file=file, agent_id=agent_id, now=now, revisions=revisions, proposals=proposals
            )
            for file, agent_id, now, revisions, proposals in await self._elsewhere.in_files(
                organization, texts
            )
        ]
        chats = await self._elsewhere.in_chats(organization, texts, but)
        own = [each for each in sections if each != but]
        kept = await self._elsewhere.in_kept(organization, texts, but)
        return _Quoted(conversations, chats, own, whole, files, kept)

    async def _erased(
        self,
        organization: UUID,
        removed: Removed,
        quoted: _Quoted,
        also: AlsoErased = NOTHING_ELSE,
    ) -> Erased:
        if any(removed):
            self._tell(organization)
        return Erased(
            memories=removed.memories,
            proposals=removed.proposals,
            **also._asdict(),
            quoted_in=quoted.conversations,
            quoted_in_chats=quoted.chats,
            quoted_in_sections=quoted.sections,
            quoted_in_dossier=quoted.dossier,
            quoted_in_files=quoted.files,
            quoted_in_kept=quoted.kept,
            scrubbed=await self._storage.scrub(),
        )

    def _tell(self, organization: UUID) -> None:
        announce(self._evict, organization)
        announce(self._changed, organization)


def _by(who: Principal) -> Author:
    return Author(user_id=who.user_id, agent_id=who.agent_id)
