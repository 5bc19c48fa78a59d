"""The verbs of conversations: load one for a run, save or append what was said, read it back."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.access.store import check_subject
from memoranda.conversations import places, reading, store, writing
from memoranda.conversations.branches.service import Branches
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.errors import not_seen
from memoranda.conversations.limits import LIMITS, ConversationLimits
from memoranda.conversations.listeners import Listener, Listeners
from memoranda.conversations.loading import loaded
from memoranda.conversations.models import (
    LAST_GENERATION,
    Conversation,
    ConversationKey,
    LoadedConversation,
    Message,
    MessagePage,
    StoredMessage,
)
from memoranda.conversations.places import At
from memoranda.conversations.preparing import list_of, turn_of
from memoranda.conversations.resets.service import Resets
from memoranda.conversations.rows import store as rows
from memoranda.conversations.usage.service import UsageLedger
from memoranda.conversations.writing import Expected, Taken
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Conflict, Invalid, MemorandaError
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, optional_text_input, text_input, time_input
from memoranda.words.page import Page, cut_page
from memoranda.words.subject import ContextSubject

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)

MOST_LISTED: Final = 1_000
REPLACED_FOR: Final = timedelta(days=30)
"""How long it can be told what a save replaced."""
PRUNED_AT_ONCE: Final = 1_000
AT_A_GLANCE: Final = 500
"""Messages that take no longer to write down than a thread takes to start with them."""
_LISTING: Final = "conversations"
_OF_WORKFLOW: Final = "conversations of a workflow"


@checks_shapes
class Conversations:
    """What was said, kept exactly: an ordered list of messages per conversation.

    The store observes and never steers: a request is built from the messages of the run, and
    what is saved is the list that was sent, with its answer. Attaching it changes nothing that is sent.
    `listeners` are told after each commit.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        limits: ConversationLimits = LIMITS,
        listeners: Listeners | None = None,
        resets: Resets | None = None,
        compactions: Compactions | None = None,
    ) -> None:
        self._storage = storage
        self._limits = limits
        self._listeners = listeners or Listeners()
        self.resets = resets or Resets(storage, listeners=self._listeners)
        self.compactions = compactions or Compactions(storage, told=self._listeners.tell)
        self.usage = UsageLedger(storage)
        self.branches = Branches(storage, limits, self._listeners)

    async def close(self) -> None:
        """Let go of a summarizer's connections; nothing can be compacted after this."""
        await self.compactions.close()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change that is committed in this process; the answer is what ends it.

        A listener is called on the event loop with a `ConversationChange` and must not block it. What
        it raises is logged, and fails nothing.
        """
        return self._listeners.add(listener)

    async def create(
        self,
        who: Principal,
        *,
        workflow_id: str | None = None,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        generation: int = 1,
    ) -> Conversation:
        """Make an empty conversation for the user and agent named.

        A workflow has one per generation and agent: raises `Conflict`, naming it, where
        it is there, `OlderGeneration` for a generation that a reset ended, and `LaterGeneration` for
        one that none has begun. `NotFound` for an unknown user or agent.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        subject = subject_of(who, agent_id, user_id)
        workflow_id = optional_text_input("workflow_id", workflow_id)
        check_count("generation", generation, most=LAST_GENERATION)
        made: Conversation | Taken
        if workflow_id is None:
            made = await self._write(subject, writing.begin_unnamed, subject, generation)
        else:
            key = ConversationKey(
                workflow_id=workflow_id, generation=generation, agent_id=subject.agent_id
            )
            made = await self._write(subject, writing.begin, key, subject)
        if not isinstance(made, Taken):
            self._listeners.tell(organization, "created", made)
            return made
        details = {"conversation_id": str(made.by.id)} if _sees(who, made.by) else {}
        raise Conflict(
            "This workflow's generation has a conversation with this agent already: "
            "append to it, or reset the workflow to begin the next generation.",
            **details,
        )

    async def load(self, who: Principal, at: At) -> LoadedConversation:
        """What a run begins from: all messages, ready to be sent again, and the fence for its save.

        A key without a conversation has no messages, and that is no error. Calls that broke off are answered, and
        results are cut and cleared to the limits; what is stored stays as it is (`messages` shows it).
        Raises `ConversationLoadFailed` where it could not be read, which may be tried again,
        `ConversationTooLarge`, `OlderGeneration` where its generation has ended, `LaterGeneration`, `NotFound` where it is not the caller's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        place = places.place_of(who, at)
        return await loaded(self._storage, organization, place, self._limits)

    async def save(
        self,
        who: Principal,
        at: At,
        messages: Sequence[Message],
        *,
        fence: int,
        expected_digest: str | None = None,
        user_id: UUID | None = None,
    ) -> Conversation:
        """Let exactly these be the conversation's messages; only what differs is written.

        Messages that were there keep their times and pins. `fence` is the one that `load` answered: where
        the conversation was cleared or purged since, raises `LateSave`, and `OlderGeneration` where its
        generation ended, `LaterGeneration` where it has not begun; nothing is kept or made then. With `expected_digest` it is saved only over the
        list of that digest, and raises `Conflict` over another. A key without a conversation gets
        one, of the user that is named. Raises `ConversationTooLarge`, and `Invalid` at the very place.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place = places.place_of(who, at, user_id)
        most = self._limits.max_bytes
        if len(messages) > AT_A_GLANCE:  # others of the event loop would wait for it
            made = await asyncio.to_thread(list_of, list(messages), most)
        else:
            made = list_of(messages, most)
        expected = Expected(fence=_fence(fence), digest=expected_digest)
        saved, changed = await self._write(place.subject, writing.save, place, made, expected, most)
        if changed:
            self._listeners.tell(organization, "saved", saved)
        return saved

    async def record(
        self,
        who: Principal,
        at: At,
        messages: Sequence[Message],
        *,
        fence: int,
        user_id: UUID | None = None,
    ) -> Conversation | None:
        """`save` after a call that is paid for: what fails is logged as a warning, and the answer is None.

        The run goes on with what it has; the next save brings what this one did not.
        """
        try:
            return await self.save(who, at, messages, fence=fence, user_id=user_id)
        except Exception as error:  # noqa: BLE001 - whatever broke, the call is paid for and its answer is there
            # Its code or type alone: a message may quote what was said.
            code = error.code if isinstance(error, MemorandaError) else type(error).__name__
            logger.warning("A conversation could not be saved, and the run goes on: %s.", code)
            return None

    async def append(
        self,
        who: Principal,
        at: At,
        messages: Sequence[Message],
        *,
        expected_length: int | None = None,
        fence: int | None = None,
        user_id: UUID | None = None,
    ) -> Conversation:
        """Add a turn (1 to 1,000 messages, 8 MB) after the last message; all of it or nothing.

        The cost is the turn's, however long the conversation. With `expected_length`
        it is added only where the conversation has that many messages: otherwise raises
        `Conflict`, whose details carry the present `length`. With `fence`, as for `save`. A key without
        a conversation gets one. `NotFound` for a
        conversation that is not there or not the caller's; `ConversationTooLarge`.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place = places.place_of(who, at, user_id)
        turn = turn_of(messages)
        if expected_length is not None and expected_length < 0:
            raise Invalid(
                "expected_length counts messages: it is 0 or more.", field="expected_length"
            )
        expected = Expected(fence=None if fence is None else _fence(fence), length=expected_length)
        longer = await self._write(
            place.subject, writing.append, place, turn, expected, self._limits.max_bytes
        )
        self._listeners.tell(organization, "appended", longer)
        return longer

    async def clear(self, who: Principal, at: At) -> Conversation | None:
        """Take away all that was said, and keep the conversation; a save that was begun before is refused.

        Memories stay. None for a key without a conversation. Traces may stay in the database's
        files until a purge. Raises `NotFound`, `OlderGeneration` and `LaterGeneration`.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        place = places.place_of(who, at)
        cleared = await self._storage.write(organization, writing.clear, place)
        if cleared is not None:
            self._listeners.tell(organization, "cleared", cleared)
        return cleared

    async def get(self, who: Principal, conversation_id: UUID) -> Conversation:
        """The conversation without its messages. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        found = await self._storage.read(organization, store.find, conversation_id)
        if found is None or not _sees(who, found):
            raise not_seen(conversation_id)
        return found

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Conversation]:
        """Conversations of the user and agent named (all that the caller sees, without), the newest first.

        `limit` is 1 to 1,000. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        subject = subject_of(who, agent_id, user_id)
        found = await self._storage.read(
            organization,
            store.page,
            subject.user_id,
            subject.agent_id,
            before,
            limit + 1,
            alone=who.role is Role.AGENT,
        )
        return cut_page(_LISTING, found, limit)

    async def of_workflow(
        self, who: Principal, workflow_id: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Conversation]:
        """The workflow's conversations that the caller sees, the newest generation first.

        `limit` is 1 to 1,000. Raises `Invalid` for a cursor that is not this list's, or whose
        conversation is gone.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_OF_WORKFLOW, cursor)
        named = text_input("workflow_id", workflow_id)
        found = await self._storage.read(
            organization,
            reading.of_workflow,
            named,
            before,
            limit + 1,
            lambda each: _sees(who, each),
        )
        return cut_page(_OF_WORKFLOW, found, limit)

    async def messages(
        self, who: Principal, conversation_id: UUID, *, after: int = 0, limit: int = 100
    ) -> list[StoredMessage]:
        """The messages of `message_page`, which says besides whether there are more."""
        return (await self.message_page(who, conversation_id, after=after, limit=limit)).items

    async def message_page(
        self, who: Principal, conversation_id: UUID, *, after: int = 0, limit: int = 100
    ) -> MessagePage:
        """Messages exactly as stored, in their order from after the position `after`, at most `limit` (1 to 1,000)."""
        check_count("limit", limit, most=MOST_LISTED)
        if not 0 <= after <= LAST_GENERATION:
            raise Invalid(
                "after is the position of a message, or 0 for the beginning.", field="after"
            )
        found = await self.get(who, conversation_id)
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, reading.messages, found.id, after, limit)

    async def recent(
        self,
        subject: ContextSubject,
        conversation_id: UUID,
        limit: int,
        *,
        as_of: datetime | None = None,
    ) -> list[StoredMessage]:
        """The last messages of a conversation that `subject` is part of, the newest first; 0 reads nothing.

        With `as_of`, those that were the last at that time: what a save replaced is kept for 30 days for
        that. Raises `Gone` for a time before that, or before a clearing, and
        `NotFound` for a conversation of another user or agent, as for none at all.
        """
        if limit < 0:
            raise Invalid(f"limit is {limit} and must not be negative.", field="limit")
        if limit == 0:
            return []
        then = time_input("as_of", as_of)
        return await self._storage.read(
            subject.organization_id, reading.recent, subject, conversation_id, limit, then
        )

    async def summary(
        self, subject: ContextSubject, conversation_id: UUID, *, as_of: datetime | None = None
    ) -> StoredMessage | None:
        """The message that stands for what was compacted; None where nothing was. Raises as `recent` does."""
        then = time_input("as_of", as_of)
        return await self._storage.read(
            subject.organization_id, reading.summary, subject, conversation_id, then
        )

    async def quoting(
        self, organization_id: UUID, texts: Iterable[str], but: UUID | None = None
    ) -> list[UUID]:
        """The organization's conversations that keep one of these texts, the newest first; none of the user `but`.

        Case and whitespace make no difference; what was compacted or replaced is looked through too.
        For whoever has the right to see them all, and
        to decide what becomes of them: nothing is changed here.
        """
        return await reading.quoting(self._storage, organization_id, texts, but)

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of what was replaced more than 30 days ago; how many messages, and 0 when none is left."""
        return await self._storage.write(organization_id, _prune)

    async def _write(
        self,
        subject: ContextSubject,
        change: Callable[Concatenate[Transaction, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Write a change that may make a conversation; `NotFound` where it names nobody that there is."""
        organization = subject.organization_id
        try:
            return await self._storage.write(organization, change, *args, **kwargs)
        except ConstraintViolated:
            # The usual reason is a user or agent that the organization does not have.
            await self._storage.read(
                organization, check_subject, user_id=subject.user_id, agent_id=subject.agent_id
            )
            raise


def _prune(tx: Transaction) -> int:
    return rows.prune(tx, tx.now - REPLACED_FOR, PRUNED_AT_ONCE)


def _sees(who: Principal, conversation: Conversation) -> bool:
    return sees(who, user_id=conversation.user_id, agent_id=conversation.agent_id)


def _fence(fence: int) -> int:
    if not 0 <= fence <= LAST_GENERATION:
        raise Invalid("fence is the one that load answered: 0 or more.", field="fence")
    return fence
