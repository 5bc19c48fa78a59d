"""The verbs of compaction: compact earlier turns, read what was put away, and pin what must stay."""

from collections.abc import Sequence
from typing import Final, Protocol
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, sees
from memoranda.conversations import store as conversations
from memoranda.conversations.caps import RESULT_CHARS
from memoranda.conversations.clearing import SEED_BYTES
from memoranda.conversations.compaction import store
from memoranda.conversations.compaction.activating import Activated, activate, fail
from memoranda.conversations.compaction.boundary import find_boundary, why_none
from memoranda.conversations.compaction.extractive import Extractive
from memoranda.conversations.compaction.models import (
    ArchivedMessage,
    Compaction,
    CompactionCause,
    MaybeCompacted,
)
from memoranda.conversations.compaction.planning import (
    SUMMARY_TOKENS,
    Candidate,
    Plan,
    candidate,
    due,
    is_too_short,
    loaded_head,
    most_tokens_for,
    objection,
)
from memoranda.conversations.compaction.serializing import refusal_of
from memoranda.conversations.compaction.summarizer import (
    OwnFunction,
    OwnSummarizer,
    Summarizer,
    Summary,
    SummaryRequest,
    asked,
)
from memoranda.conversations.errors import NothingToCompact, not_seen
from memoranda.conversations.models import ChangeAction, Conversation, Message, StoredMessage
from memoranda.conversations.pressure import Pressure, pressure
from memoranda.conversations.rows import store as rows
from memoranda.conversations.seeding import replayable
from memoranda.conversations.sizes import total_tokens
from memoranda.conversations.usage import store as usage
from memoranda.conversations.usage.models import CallUsage
from memoranda.conversations.wire.capabilities import capabilities_of
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import NotFound, Unavailable
from memoranda.words.given import checks_shapes
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page
from memoranda.words.tokens import Estimator, estimate_tokens

MOST_LISTED: Final = 1_000
_ATTEMPTS: Final = "compactions"
_HISTORY: Final = "compacted messages"


class Told(Protocol):
    """Whoever tells the listeners of conversations."""

    def __call__(
        self, organization_id: UUID, action: ChangeAction, /, *of: Conversation
    ) -> None: ...


def _nobody(_organization: UUID, _action: ChangeAction, *_: Conversation) -> None:
    """Tell nobody."""


@checks_shapes
class Compactions:
    """Earlier turns become a summary; the latest stay as they are, and nothing that was said is lost.

    `told` is called after the commit of a compaction, and must neither block nor fail.
    """

    def __init__(
        self,
        storage: Storage,
        summarizer: Summarizer | None = None,
        *,
        estimator: Estimator = estimate_tokens,
        summary_tokens: int = SUMMARY_TOKENS,
        result_chars: int = RESULT_CHARS,
        budget: int = SEED_BYTES,
        told: Told = _nobody,
    ) -> None:
        self._storage = storage
        self._summarizer = summarizer or Extractive(estimator)
        self._estimator = estimator
        self._summary_tokens = summary_tokens
        self._result_chars = result_chars
        self._budget = budget
        self._told = told

    def use(self, summarizer: Summarizer | OwnFunction) -> None:
        """Let this one make the summaries from now on: a host's own function, plain or async, or a summarizer."""
        if not isinstance(summarizer, Summarizer):
            summarizer = OwnSummarizer(summarizer)
        self._summarizer = summarizer

    async def close(self) -> None:
        """Let go of the summarizer's connections, where it has any."""
        close = getattr(self._summarizer, "close", None)
        if close is not None:
            await close()

    async def compact(
        self,
        who: Principal,
        conversation_id: UUID,
        *,
        keep_turns: int = 1,
        provider: str | None = None,
        cause: CompactionCause = "asked",
    ) -> Compaction:
        """Let a summary stand for all but the latest `keep_turns` turns (1 to 1,000), prompts and what is pinned.

        It takes effect only where nothing of what it was made of has changed meanwhile; what was appended
        stays behind it, exactly. An attempt that fails is answered and recorded with its reason, and
        changes nothing. `provider` is whose next request has to be valid; by default that of the latest
        answer. Raises `NotFound`, `NothingToCompact` where there is no earlier turn, or where what there is
        is too short to be summed up, and `Invalid` for a provider that is not known.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        check_count("keep_turns", keep_turns, most=MOST_LISTED)
        if provider is not None:
            capabilities_of(provider)
        plan = await self._storage.read(
            organization, self._planned, who, conversation_id, keep_turns
        )
        attempt = self._attempt(plan, cause)
        summary, reason = await self._summary(plan)
        made = None if summary is None else candidate(plan, summary.text, self._estimator)
        if made is not None and summary is not None:
            reason = objection(plan, made, summary.text) or refusal_of(made.messages, provider)
        used = None if summary is None else summary.usage
        if made is None or reason is not None:
            failed = attempt.model_copy(update={"status": "failed", "reason": reason})
            return await self._storage.write(organization, _failed, plan, failed, used)
        attempt = attempt.model_copy(
            update={"messages": len(plan.taken), "tokens_after": made.tokens}
        )
        done = await self._storage.write(organization, _activated, plan, made, attempt, used)
        if done.conversation is not None:
            self._told(organization, "compacted", done.conversation)
        return done.attempt

    async def compact_if_due(
        self,
        who: Principal,
        conversation_id: UUID,
        *,
        window: int,
        room: int = 0,
        keep_turns: int = 1,
        provider: str | None = None,
    ) -> MaybeCompacted:
        """`compact` where the next request fills 0.8 of the model's window, or earlier turns the byte budget.

        The answer says whether one of both was so, and where it was and nothing can be compacted, why.
        Else raises what `compact` does, and `Invalid` for a window or room that is none.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        messages = await self._storage.read(organization, _messages, who, conversation_id)
        cause = due(
            self._sent(messages),
            window=window,
            room=room,
            budget=self._budget,
            estimator=self._estimator,
        )
        if cause is None:
            return MaybeCompacted(due=None, compaction=None, reason=None)
        try:
            made = await self.compact(
                who, conversation_id, keep_turns=keep_turns, provider=provider, cause=cause
            )
        except NothingToCompact as none:
            return MaybeCompacted(due=cause, compaction=None, reason=none.message)
        return MaybeCompacted(due=cause, compaction=made, reason=None)

    async def pressure(
        self, who: Principal, conversation_id: UUID, *, window: int, room: int = 0
    ) -> Pressure:
        """How full the model's window will be with what a run of this conversation begins with."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        messages = await self._storage.read(organization, _messages, who, conversation_id)
        return pressure(self._sent(messages), room=room, window=window, estimator=self._estimator)

    async def attempts(
        self, who: Principal, conversation_id: UUID, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Compaction]:
        """Every attempt to compact the conversation, the newest first."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_ATTEMPTS, cursor)
        found = await self._storage.read(
            organization, _attempts, who, conversation_id, before, limit + 1
        )
        return cut_page(_ATTEMPTS, found, limit)

    async def history(
        self, who: Principal, conversation_id: UUID, *, limit: int = 100, cursor: str | None = None
    ) -> Page[ArchivedMessage]:
        """The messages that compactions put away, exactly as they were, in the order in which they were said.

        A summary that was compacted again is among them, before what it stood for.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        after = read_cursor(_HISTORY, cursor)
        found = await self._storage.read(
            organization, _history, who, conversation_id, after, limit + 1
        )
        return cut_page(_HISTORY, found, limit)

    async def pin(self, who: Principal, conversation_id: UUID, position: int) -> None:
        """Let the message at that position survive every compaction. Raises `NotFound` where none is."""
        await self._pin(who, conversation_id, position, wanted=True)

    async def unpin(self, who: Principal, conversation_id: UUID, position: int) -> None:
        """Let the message at that position be compacted like any other. Raises `NotFound` where none is."""
        await self._pin(who, conversation_id, position, wanted=False)

    def _sent(self, messages: Sequence[Message]) -> list[Message]:
        """What a run of the conversation begins with."""
        return replayable(list(messages), result_chars=self._result_chars, budget=self._budget)

    async def _pin(
        self, who: Principal, conversation_id: UUID, position: int, *, wanted: bool
    ) -> None:
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        await self._storage.write(
            organization, _pinned, who, conversation_id, position, wanted=wanted
        )

    def _planned(
        self, tx: Transaction, who: Principal, conversation_id: UUID, keep_turns: int
    ) -> Plan:
        there = _seen(tx, who, conversation_id)
        messages = conversations.messages(tx, conversation_id, 0, there.length)
        boundary = find_boundary(messages, keep_turns)
        if boundary is None:
            raise NothingToCompact(
                f"There is nothing to compact: {why_none(messages, keep_turns)}.",
                conversation_id=str(conversation_id),
            )
        taken = [messages[place] for place in boundary.taken]
        most_tokens = most_tokens_for(taken, self._summary_tokens, self._estimator)
        if is_too_short(taken, most_tokens, self._estimator):
            raise NothingToCompact(
                "What could be compacted is too short: a summary of it would be no smaller. Compact it "
                "when more has been said.",
                conversation_id=str(conversation_id),
            )
        stored = rows.outline(tx, conversation_id)
        return Plan(
            conversation=there,
            messages=tuple(messages),
            boundary=boundary,
            source_digest=stored[boundary.end - 1].chain,
            loaded=loaded_head(messages, boundary.end, self._sent(messages)),
            tokens=total_tokens(messages, self._estimator),
            most_tokens=most_tokens,
        )

    def _attempt(self, plan: Plan, cause: CompactionCause) -> Compaction:
        return Compaction(
            id=new_id(),
            conversation_id=plan.conversation.id,
            status="failed",
            cause=cause,
            summarizer=self._summarizer.name,
            reason=None,
            number=None,
            messages=0,
            tokens_before=plan.tokens,
            tokens_after=plan.tokens,
            created_at=plan.conversation.updated_at,
        )

    async def _summary(self, plan: Plan) -> tuple[Summary | None, str | None]:
        """The summary, or why there is none."""
        request = SummaryRequest(plan.taken, plan.most_tokens)
        try:
            return await asked(self._summarizer, request), None
        except Unavailable as error:
            return None, error.message


def _activated(
    tx: Transaction, plan: Plan, made: Candidate, attempt: Compaction, used: CallUsage | None
) -> Activated:
    if used is not None:
        usage.record(tx, plan.conversation, used, "compaction")
    return activate(tx, plan, made, attempt.model_copy(update={"created_at": tx.now}))


def _failed(tx: Transaction, plan: Plan, attempt: Compaction, used: CallUsage | None) -> Compaction:
    if used is not None:
        usage.record(tx, plan.conversation, used, "compaction")
    return fail(tx, attempt.model_copy(update={"created_at": tx.now}))


def _seen(tx: Transaction, who: Principal, conversation_id: UUID) -> Conversation:
    found = conversations.find(tx, conversation_id)
    if found is None or not sees(who, user_id=found.user_id, agent_id=found.agent_id):
        raise not_seen(conversation_id)
    return found


def _messages(tx: Transaction, who: Principal, conversation_id: UUID) -> list[StoredMessage]:
    there = _seen(tx, who, conversation_id)
    return conversations.messages(tx, conversation_id, 0, there.length)


def _attempts(
    tx: Transaction, who: Principal, conversation_id: UUID, before: UUID | None, most: int
) -> list[Compaction]:
    return store.attempts(tx, _seen(tx, who, conversation_id).id, before, most)


def _history(
    tx: Transaction, who: Principal, conversation_id: UUID, after: UUID | None, most: int
) -> list[ArchivedMessage]:
    return store.put_away(tx, _seen(tx, who, conversation_id).id, after, most)


def _pinned(
    tx: Transaction, who: Principal, conversation_id: UUID, position: int, *, wanted: bool
) -> None:
    there = _seen(tx, who, conversation_id)
    # Held, so that no compaction takes a message of which somebody is told that it stays.
    rows.hold(tx, there.id)
    if not store.pin(tx, there.id, position, wanted=wanted):
        raise NotFound(
            f"There is no message at position {position}: it may be compacted or replaced. "
            "List the messages.",
            position=position,
        )
