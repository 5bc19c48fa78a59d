"""Search over conversations: what was said, by words and by meaning, and why it was found."""

import asyncio
from functools import partial
from typing import Final, NamedTuple, Self
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.conversations.errors import unknown_conversation
from memoranda.conversations.finding.embedding import ConversationEmbedding
from memoranda.conversations.finding.indexing import ConversationIndexing
from memoranda.conversations.finding.models import ConversationAnswer
from memoranda.conversations.finding.passages import COLLECTION
from memoranda.conversations.finding.reach import store as reaches
from memoranda.conversations.finding.reach.store import Reach
from memoranda.conversations.finding.showing import show
from memoranda.conversations.finding.vectors import store as vectors
from memoranda.search import store as index
from memoranda.search.both import both
from memoranda.search.embedders.choice import Embedders
from memoranda.search.fusion import Meaning
from memoranda.search.terms import Query, read_query
from memoranda.search.vectors.asking import PATIENCE_S, Asking, Look
from memoranda.search.vectors.parts import cache_of
from memoranda.settings import MEGABYTE, Settings
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count

LONGEST_QUERY: Final = 10_000
"""The most characters of a query that are read; the rest of a longer one is not searched for."""
MOST_RESULTS: Final = 100
SPARE: Final = 4
"""So many times as many passages are found as messages are wanted: several may be of one message."""


class _Asked(NamedTuple):
    who: Principal
    said: str
    query: Query
    limit: int
    reach: Reach


@checks_shapes
class ConversationSearch:
    """Finds what was said. A caller's results, scores and order are those of its own conversations alone.

    Without `embedders`, words alone find it.
    """

    def __init__(
        self,
        storage: Storage,
        embedders: Embedders | None,
        *,
        timeout_s: float = PATIENCE_S,
        cache_mb: int = 256,
    ) -> None:
        self._storage = storage
        self._embedders = embedders
        self._asking = Asking(storage, timeout_s=timeout_s)
        self._indexing = ConversationIndexing(storage)
        self._embedding = ConversationEmbedding(storage, embedders)
        cache_of(storage.memory, COLLECTION).max_bytes = cache_mb * MEGABYTE

    @classmethod
    def of(cls, storage: Storage, embedders: Embedders | None, settings: Settings) -> Self:
        """The search that the settings ask for."""
        return cls(
            storage,
            embedders,
            timeout_s=settings.embedder_timeout_s,
            cache_mb=settings.vector_cache_mb,
        )

    @property
    def chores(self) -> tuple[ConversationIndexing, ConversationEmbedding]:
        """What a worker does, so that what was said is found."""
        return self._indexing, self._embedding

    async def take_up(self, organization_id: UUID) -> int:
        """Have workers look where nobody told them of work, as after an upgrade; at how much."""
        return sum([await chore.take_up(organization_id) for chore in self.chores])

    async def catch_up(self, organization_id: UUID, *, within_s: float) -> bool:
        """Do what waits for a worker, for callers without one; whether nothing is left to wait.

        Stops after `within_s` seconds, and at once where the embedder can't be reached.
        """
        loop = asyncio.get_running_loop()
        ends, worker_id = loop.time() + within_s, new_id()
        for chore in self.chores:
            while loop.time() < ends and await chore.serve(organization_id, worker_id):
                pass
        return not any([await chore.waiting(organization_id) for chore in self.chores])

    async def search(
        self,
        who: Principal,
        query: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        conversation_id: UUID | None = None,
        limit: int = 8,
    ) -> ConversationAnswer:
        """The messages that answer `query`, best first, at most 100.

        Of the user and agent named, or all that the caller may see; with `conversation_id`, of that
        one alone. Whatever narrows it, the rest counts for nothing, except that an owner's or reader's
        search of everything weighs words by all of the organization's conversations. A word is only
        a word here. Raises `Refused`, and `NotFound` for a conversation that the caller can't see.
        """
        organization_id = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_RESULTS)
        said = query[:LONGEST_QUERY]
        reach = _reach(who, user_id, agent_id, conversation_id)
        asked = _Asked(who, said, read_query(said), limit, reach)
        found = await self._asking.found(
            organization_id,
            organization_id,
            self._embedders,
            look=partial(_look, asked=asked),
            find=partial(_find, asked=asked),
        )
        if found is not None:
            return found[0]
        return await self._storage.read(organization_id, _by_words, asked)

    async def close(self) -> None:
        """Let go of queries that are being embedded."""
        await self._asking.close()


def _reach(
    who: Principal, user_id: UUID | None, agent_id: UUID | None, conversation_id: UUID | None
) -> Reach:
    subject = subject_of(who, agent_id, user_id)
    named = subject.user_id, subject.agent_id
    if conversation_id is not None:
        return Reach("one", *named, conversation_id)
    if subject.agent_id is None:
        return Reach("all" if subject.user_id is None else "user", *named)
    if subject.user_id is None:
        return Reach("alone" if who.role is Role.AGENT else "agent", *named)
    return Reach("both", *named)


def _look(tx: Transaction, *, asked: _Asked) -> Look:
    segment_ids = _within(tx, asked, None).segment_ids
    model = vectors.serving(tx)
    if model is None:
        return Look(None, "")
    return Look(
        model, index.wording(tx, COLLECTION, asked.said, asked.query, document_ids=segment_ids)
    )


def _find(tx: Transaction, meaning: Meaning, *, asked: _Asked) -> ConversationAnswer | None:
    """None where another model serves by now: what was embedded can't be compared with its vectors."""
    if vectors.serving(tx) != meaning.model:
        return None
    return _answer(tx, asked, meaning)


def _by_words(tx: Transaction, asked: _Asked) -> ConversationAnswer:
    return _answer(tx, asked, None)


def _answer(tx: Transaction, asked: _Asked, meaning: Meaning | None) -> ConversationAnswer:
    within = _within(tx, asked, meaning.model if meaning else None)
    found = both(
        tx,
        COLLECTION,
        asked.query,
        limit=asked.limit * SPARE,
        document_ids=within.segment_ids,
        meaning=meaning,
        vectors=vectors.SAID,
    )
    return ConversationAnswer(
        results=show(tx, asked.query, found, meaning, asked.limit),
        semantic=meaning is not None,
        model=meaning.model if meaning else None,
        words_alone=within.words_alone,
        waiting=reaches.waiting(tx, asked.reach),
        left_out=within.left_out,
    )


def _within(tx: Transaction, asked: _Asked, model: str | None) -> reaches.Within:
    one = asked.reach.conversation_id
    if one is not None:
        owners = reaches.owners(tx, one)
        if owners is None or not sees(asked.who, user_id=owners[0], agent_id=owners[1]):
            raise unknown_conversation(one)
    return reaches.within(tx, asked.reach, model)
