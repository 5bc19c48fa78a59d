"""The verbs of finding: search for people, recall for runs."""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, require, subject_of
from memoranda.memories.audience import sees_everything
from memoranda.memories.embedding.store import beyond_meaning, just_written
from memoranda.memories.finding import reading
from memoranda.memories.finding.asked import (
    LONGEST_QUERY,
    MOST_FOUND,
    TIMEOUT_S,
    Asked,
    asked_input,
    names_input,
)
from memoranda.memories.finding.notes import Notes, known_run
from memoranda.memories.finding.patience import within
from memoranda.memories.finding.reach.store import EVERYBODY, Reader
from memoranda.memories.finding.reading import Offers, Wanted
from memoranda.memories.finding.recall import LIMIT, MAX_TOKENS, Keeping, keep
from memoranda.memories.finding.store import EVERY
from memoranda.memories.guarding import Guard, is_for_a_run
from memoranda.memories.models import FoundMemory, MemorySearch, Recall, RecalledMemory
from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.vectors.service import AtHand, Nearest, Vectors
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, text_input
from memoranda.words.resolver import RefResolver
from memoranda.words.subject import ContextSubject
from memoranda.words.tokens import Estimator, estimate_tokens

T = TypeVar("T")
logger = logging.getLogger(__name__)

LAST_SHARE: Final = 0.25
"""Of the patience with an embedder, what is left at least for asking again: its answer is known by then."""
JUST_NOW: Final = timedelta(seconds=10)
"""For how long the vector of what was written is looked for by whoever wrote it."""
EMBEDDER_SHARE: Final = 0.5
"""How much of a recall's time an embedder may take; the rest is enough to go on by words alone."""


@checks_shapes
class Finding:
    """Finds memories by their words, their letters and, where an embedder answers, their meaning."""

    def __init__(
        self,
        storage: Storage,
        vectors: Vectors | None = None,
        *,
        resolver: RefResolver | None = None,
        estimator: Estimator = estimate_tokens,
    ) -> None:
        self._guard = Guard(resolver)
        self._estimator = estimator
        self._storage = storage
        self._vectors = vectors
        self._notes = Notes(storage)

    async def search(
        self,
        who: Principal,
        query: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = MOST_FOUND,
        categories: Collection[str] = (),
        tags: Collection[str] = (),
    ) -> MemorySearch:
        """Live memories that have to do with `query`, at most `limit` (1 to 50), best first.

        Found is what scores 0.55 by meaning or by words, and whatever holds the whole query
        letter for letter, in any script and inside words too; no character of a query is
        syntax. With a user or agent named: what a run for them may know. Without: all that the
        caller may read. Categories and tags narrow it to memories with one of each. Without an
        answer of an embedder within two seconds, and before the first vector is made, words and
        letters find alone and `semantic` is False. Raises `Invalid` for a blank query and `OverLimit` beyond 8,000 characters.
        """
        organization = organization_for(who, Permission.READ_MEMORIES, in_space=True)
        check_count("limit", limit, most=MOST_FOUND)
        wanted = Wanted(
            text_input("query", query, limit=LONGEST_QUERY),
            names_input("categories", categories),
            names_input("tags", tags),
        )
        reader = _reader(who, agent_id, user_id)
        read = partial(_found, reader=reader, wanted=wanted, limit=limit)
        found, nearest = await self._read(organization, read, wanted.query, SEARCH_SCORE, TIMEOUT_S)
        kept = found
        if is_for_a_run(who, agent_id, user_id):
            subject = subject_of(who, agent_id, user_id)
            kept = await self._guard.kept(subject, found, lambda each: each.memory)
        hidden = len(found) - len(kept) if sees_everything(who) else 0
        return MemorySearch(results=tuple(kept), hidden=hidden, **_how(nearest))

    async def recall(
        self,
        who: Principal,
        query: str,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        run_id: UUID | None = None,
        enabled: bool = True,
        limit: int = LIMIT,
        max_tokens: int = MAX_TOKENS,
        timeout_s: float = TIMEOUT_S,
    ) -> Recall:
        """The block of memories for a run, in time: pinned ones, then at most `limit` that score 0.72.

        The block is never larger than `max_tokens`; it says so when there is nothing to recall.
        After `timeout_s`, or on any failure, there is no block and `outcome` says why. What was
        given is counted as used, once for each run, and logged in the run's log; nobody waits for
        that. Of a query, the first 8,000 characters are read; a blank one recalls what is pinned.
        Raises `NotFound` for a run that the caller may not know, `Invalid` for a wrong option.
        """
        organization_for(who, Permission.READ_MEMORIES)
        if run_id is not None:
            require(who, Permission.WRITE_RUNS)
        subject = subject_of(who, agent_id, user_id)
        asked = asked_input(Asked(subject, query, run_id, limit, max_tokens, timeout_s, who))
        return await self._recall(asked, enabled=enabled)

    async def for_subject(
        self,
        subject: ContextSubject,
        query: str,
        *,
        run_id: UUID | None = None,
        limit: int = LIMIT,
        max_tokens: int = MAX_TOKENS,
        timeout_s: float = TIMEOUT_S,
    ) -> Recall:
        """`recall` for a context source, whose caller has checked for whom it asks."""
        asked = asked_input(Asked(subject, query, run_id, limit, max_tokens, timeout_s))
        return await self._recall(asked, enabled=True)

    async def pending_vectors(self, who: Principal) -> int:
        """How many memories that the caller has written within ten seconds can't be found by meaning yet.

        They wait for a worker, who has not tried them yet. 0 without an embedder; at most 50.
        """
        organization = organization_for(who, Permission.READ_MEMORIES, in_space=True)
        models = self._vectors.models if self._vectors else ()
        return await self._storage.read(organization, _pending, models, who) if models else 0

    async def settled(self) -> None:
        """Wait until what was recalled is also noted: before a storage is closed, and in tests."""
        await self._notes.settled()

    async def recall_for(
        self,
        who: Principal,
        query: str,
        keeping: Keeping,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        run_id: UUID | None = None,
        looks_only: bool = False,
    ) -> Recall:
        """`recall` for whoever chooses by itself, with `keeping`, what is given of all that may be.

        Who `looks_only` leaves no trace: nothing is counted as used.
        """
        organization_for(who, Permission.READ_MEMORIES)
        subject = subject_of(who, agent_id, user_id)
        asked = Asked(subject, query, run_id, LIMIT, MAX_TOKENS, TIMEOUT_S, who, looks_only)
        return await self._recall(asked_input(asked), enabled=True, keeping=keeping)

    async def _recall(
        self, asked: Asked, *, enabled: bool, keeping: Keeping | None = None
    ) -> Recall:
        keeping = keeping or partial(keep, max_tokens=asked.max_tokens, estimator=self._estimator)
        try:
            if enabled:
                recall = await within(asked.timeout_s, self._look(asked, keeping))
            else:
                recall = _none("off")
        except NotFound:
            raise  # the run is not the caller's
        except TimeoutError:
            recall = _none("timeout")
        except Exception as error:  # noqa: BLE001 - of all kinds: a recall may fail for any reason, and its run must go on without it
            # The type alone: an error's message may quote what people wrote.
            logger.warning("A recall failed (%s), and its run goes on.", type(error).__name__)
            recall = _none("failed")
        self._notes.take(asked, recall)
        return recall

    async def _look(self, asked: Asked, keeping: Keeping) -> Recall:
        organization = asked.subject.organization_id
        patience_s = asked.timeout_s * EMBEDDER_SHARE
        read = partial(_offers, asked=asked)
        offers, nearest = await self._read(
            organization, read, asked.query, RECALL_SCORE, patience_s
        )
        known = await self._guard.kept(
            asked.subject, [*offers.pinned, *offers.found], lambda each: each.memory
        )
        ids = {each.memory.id for each in known}
        pinned = [each for each in offers.pinned if each.memory.id in ids]
        found = [each for each in offers.found if each.memory.id in ids]
        kept = keeping(pinned, found)
        return Recall(
            block=kept.block,
            memories=tuple(
                RecalledMemory(
                    id=memory.id,
                    version=memory.version,
                    text=memory.text or "",
                    pinned=memory.pinned,
                    match=match,
                    branch_left=memory.branch_left,
                )
                for memory, match in kept.offers
            ),
            tokens=kept.tokens,
            dropped=kept.dropped,
            outcome="found" if kept.offers else "empty",
            **_how(nearest),
        )

    async def _read(
        self,
        organization: UUID,
        read: Callable[[Transaction, Nearest | None], T],
        query: str,
        at_least: float,
        patience_s: float,
    ) -> tuple[T, Nearest | None]:
        """What `read` makes of all that is near in the organization, and what that was.

        It keeps what is the reader's. Mostly this is one transaction; a second is needed where
        something has changed since this process looked last.
        """
        if self._vectors is None or not query:
            return await self._storage.read(organization, _with, read, None)
        clock = asyncio.get_running_loop().time
        ends = clock() + patience_s
        look = self._vectors.look(organization, query, at_least=at_least, most=EVERY)
        near = await self._ask(look, patience_s)
        if not isinstance(near, AtHand):
            return await self._storage.read(organization, _with, read, near)
        done = await self._storage.read(organization, _with_what_is_at_hand, read, near)
        if done is not None:
            return done
        left_s = max(ends - clock(), patience_s * LAST_SHARE)
        again = self._vectors.nearest(organization, query, at_least=at_least, most=EVERY)
        nearest = await self._ask(again, left_s)
        return await self._storage.read(organization, _with, read, nearest)

    async def _ask(self, asking: Coroutine[Any, Any, T], patience_s: float) -> T | None:
        try:
            return await within(patience_s, asking)
        except Exception as error:  # noqa: BLE001 - of all kinds: an embedder is a host's own code, and words find without it
            logger.warning("Nothing was found by meaning: %s.", type(error).__name__)
            return None


def _reader(who: Principal, agent_id: UUID | None, user_id: UUID | None) -> Reader:
    if who.space is not None:
        return Reader(who.user_id, space=who.space.name)
    subject = subject_of(who, agent_id, user_id)
    anything = sees_everything(who) and user_id is None and agent_id is None
    return EVERYBODY if anything else Reader.of(subject)


def _with_what_is_at_hand(
    tx: Transaction, read: Callable[[Transaction, Nearest | None], T], at_hand: AtHand
) -> tuple[T, Nearest | None] | None:
    nearest = at_hand.nearest(tx)
    return None if nearest is None else _with(tx, read, nearest)


def _with(
    tx: Transaction, read: Callable[[Transaction, Nearest | None], T], nearest: Nearest | None
) -> tuple[T, Nearest | None]:
    nearest = _honest(tx, nearest)
    return read(tx, nearest), nearest


def _found(
    tx: Transaction, nearest: Nearest | None, *, reader: Reader, wanted: Wanted, limit: int
) -> list[FoundMemory]:
    return reading.search(tx, reader, wanted, nearest, limit)


def _honest(tx: Transaction, nearest: Nearest | None) -> Nearest | None:
    """Nothing that was near, or None where nothing could be, because no memory has its vector yet."""
    if nearest is None or not nearest.bare:
        return nearest
    return None if beyond_meaning(tx, nearest.model) else nearest


def _pending(tx: Transaction, models: Sequence[str], who: Principal) -> int:
    since = tx.now - JUST_NOW
    return just_written(tx, models, since, user_id=who.user_id, agent_id=who.agent_id)


def _offers(tx: Transaction, nearest: Nearest | None, *, asked: Asked) -> Offers:
    if asked.who is not None and asked.run_id is not None and known_run(tx, asked) is None:
        raise NotFound(f"There is no run {asked.run_id}.", run_id=str(asked.run_id))
    return reading.recall(tx, Reader.of(asked.subject), asked.query, nearest, asked.limit)


def _how(nearest: Nearest | None) -> dict[str, Any]:
    """Whether meaning was searched, and by which model."""
    return {"semantic": nearest is not None, "model": nearest.model if nearest else None}


def _none(outcome: Literal["off", "timeout", "failed"]) -> Recall:
    return Recall(
        block=None, memories=(), tokens=0, dropped=0, outcome=outcome, semantic=False, model=None
    )
