"""The verbs of chats: say something, let a run answer it, move to another branch, clear or delete it."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, organization_of, subject_of
from memoranda.access.store import check_subject
from memoranda.conversations.chats import answering, reading, removing, sending, store
from memoranda.conversations.chats.answering import Said
from memoranda.conversations.chats.errors import taken_workflow
from memoranda.conversations.chats.exporting import pages
from memoranda.conversations.chats.feedback.service import ChatFeedback
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    Chat,
    ChatRun,
    Prepared,
    Sent,
    Thread,
)
from memoranda.conversations.chats.notes.service import ChatNotes
from memoranda.conversations.chats.removing import Quoted
from memoranda.conversations.chats.seeing import seen_chat, seen_run
from memoranda.conversations.chats.sending import Seen
from memoranda.conversations.chats.turns import read_turns
from memoranda.conversations.content import check_content, written
from memoranda.conversations.limits import LIMITS, ConversationLimits
from memoranda.conversations.listeners import Listeners
from memoranda.conversations.models import (
    LAST_GENERATION,
    ChangeAction,
    Content,
    Conversation,
)
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.given import checks_shapes
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count, optional_text_input, text_input
from memoranda.words.page import Page, cut_page

P = ParamSpec("P")
T = TypeVar("T")

MOST_LISTED: Final = 1_000
LONGEST_REASON: Final = 1_000
"""Characters that say why a run waits or failed."""
LARGEST_MESSAGE: Final = 1_000_000
"""Bytes that one message of a chat may have, as JSON in UTF-8."""
_LISTING: Final = "chats"


def _nothing_quoted(_: Transaction, __: list[UUID]) -> None:
    """Nobody else keeps anything."""


@checks_shapes
class Chats:
    """Chats: trees of messages, and agents whose memory follows the path that is shown.

    A host picks up the run that each message begins, prepares its agents, calls its model, and answers. Whoever edits,
    regenerates or switches takes the agents' stored conversations along, in the same transaction, or is refused.
    `live` has what happens while a run goes on, `notes` what waits to be told, and `feedback` what users think of answers.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        limits: ConversationLimits = LIMITS,
        listeners: Listeners | None = None,
        quoted: Quoted = _nothing_quoted,
        live: LiveRuns | None = None,
    ) -> None:
        self._storage = storage
        self._limits = limits
        self._listeners = listeners or Listeners()
        self._quoted = quoted
        self.live = live or LiveRuns(storage)
        self.notes = ChatNotes(storage)
        self.feedback = ChatFeedback(storage)

    async def create(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        workflow_id: str | None = None,
        title: str | None = None,
    ) -> Chat:
        """Make an empty chat of the user named, or else of the caller's own, with an agent or none.

        It stands for the workflow `workflow_id`, or for one of its own: raises `Conflict` where that has a chat or
        conversations already. `NotFound` for an unknown user or agent, `Invalid` without a user.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        subject = subject_of(who, agent_id, user_id)
        user = subject.user_id or who.user_id
        if user is None:
            raise Invalid("A chat is a user's: name the user.", field="user_id")
        named = optional_text_input("workflow_id", workflow_id) or f"chat-{new_id().hex}"
        title = optional_text_input("title", title)
        try:
            chat = await self._storage.write(
                organization, sending.create, subject, user, named, title
            )
        except ConstraintViolated:
            await self._storage.read(
                organization, check_subject, user_id=user, agent_id=subject.agent_id
            )
            raise taken_workflow(named) from None
        self._listeners.tell(organization, "created")
        return chat

    async def get(self, who: Principal, chat_id: UUID) -> Chat:
        """The chat without its messages. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, seen_chat, who, chat_id)

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        workflow_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Chat]:
        """Chats of the user and agent named (all that the caller sees, without), the newest first.

        With `workflow_id`, the one that stands for it, if there is one. `limit` is 1 to 1,000. Raises `Invalid` for
        a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        subject = subject_of(who, agent_id, user_id)
        if who.role is Role.AGENT and subject.user_id is None:
            return Page(items=[], next_cursor=None)  # every chat is a user's, and it acts for none
        named = optional_text_input("workflow_id", workflow_id)
        if named is not None:
            of_it = await self._storage.read(organization, reading.of_workflow, who, subject, named)
            return Page(items=of_it, next_cursor=None)
        found = await self._storage.read(
            organization, store.page, subject.user_id, subject.agent_id, before, limit + 1
        )
        return cut_page(_LISTING, found, limit)

    async def thread(
        self, who: Principal, chat_id: UUID, *, before: UUID | None = None, limit: int = 1_000
    ) -> Thread:
        """What is shown: the last messages of the path, each with its versions, and the live run.

        With `before`, the last ones before that message of the path. `limit` is 1 to 1,000. Raises `NotFound`.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        return await self._storage.read(organization, reading.thread, who, chat_id, before, limit)

    def export(self, who: Principal, chat_id: UUID) -> AsyncGenerator[str, None]:
        """The chat as lines of JSON: its messages on all branches, its runs, what is thought of answers, and notes.

        Each line ends with a line feed; the first says what they are and the last, an `end`, that they are all. It is the chat
        as it was when the first was asked for, read a few messages at a time. Raises `NotFound`, and `Conflict` where
        the chat is cleared meanwhile.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return pages.lines(self._storage, organization, who, chat_id)

    async def run(self, who: Principal, run_id: UUID) -> ChatRun:
        """A run of a chat. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, seen_run, who, run_id)

    async def send(
        self,
        who: Principal,
        chat_id: UUID,
        content: Content,
        *,
        client_message_id: str | None = None,
    ) -> Sent:
        """Say something behind the last message that is shown, in at most 1 MB, and let a run wait that answers it.

        What is sent again under the same `client_message_id` is answered with what the first send made. Raises
        `RunInProgress` while a run is live, `OlderGeneration` after a reset of the workflow, `Conflict` for other words
        under an id that was used, `NotFound`.
        """
        _check_said(content)
        client = optional_text_input("client_message_id", client_message_id)
        sent = await self._write(who, sending.send, chat_id, content, client)
        self._told(who, sent.run.id)
        return sent

    async def edit(
        self,
        who: Principal,
        chat_id: UUID,
        message_id: UUID,
        content: Content,
        *,
        expected_revision: int,
    ) -> Sent:
        """Say something else in the place of a message that is shown, beside it, and let a run wait that answers it.

        The agents' conversations go back to where the runs on the part that is left began, and what they knew there is
        kept for a switch. Raises `RevisionConflict`, `RunInProgress`, `CannotRewind`, `OlderGeneration`,
        `NotEditable`, `NotFound`; nothing has changed then.
        """
        _check_said(content)
        moved = await self._write(
            who, sending.edit, chat_id, message_id, content, seen=self._seen(expected_revision)
        )
        self._told(who, moved.sent.run.id, "moved", moved.conversations)
        return moved.sent

    async def regenerate(self, who: Principal, chat_id: UUID, *, expected_revision: int) -> Sent:
        """Let the latest message that is shown be answered again, beside the answer that it has. Raises as `edit` does."""
        moved = await self._write(who, sending.regenerate, chat_id, self._seen(expected_revision))
        self._told(who, moved.sent.run.id, "moved", moved.conversations)
        return moved.sent

    async def switch(
        self, who: Principal, chat_id: UUID, message_id: UUID, *, expected_revision: int
    ) -> Thread:
        """Show the branch that begins with the message, up to the newest message of it; what is shown then.

        The agents' conversations are again what they were when it was left. Raises as `edit` does, and
        `BranchUnavailable` where that is no longer kept.
        """
        thread, conversations = await self._write(
            who, _switch, chat_id, message_id, self._seen(expected_revision)
        )
        self._told(who, None, "moved", conversations)
        return thread

    async def pick_up(
        self, who: Principal, run_id: UUID, *, picked_up_by: str | None = None
    ) -> ChatRun:
        """Begin with a run that waits to be picked up. Raises `Conflict` where somebody has, `RunEnded`, `NotFound`.

        Whoever says by whom is answered the same again, as long as the run is live: an answer may have been lost.
        """
        by = optional_text_input("picked_up_by", picked_up_by)
        return await self._change(who, run_id, answering.pick_up, by)

    async def wait(self, who: Principal, run_id: UUID, reason: str) -> ChatRun:
        """Let a running run wait, for what `reason` says in at most 1,000 characters. Raises as `pick_up` does."""
        reason = text_input("reason", reason, limit=LONGEST_REASON)
        return await self._change(who, run_id, answering.wait, reason)

    async def resume(self, who: Principal, run_id: UUID) -> ChatRun:
        """Let a run that waits go on. Raises as `pick_up` does."""
        return await self._change(who, run_id, answering.resume)

    async def prepare(self, who: Principal, run_id: UUID, agent_id: UUID | None = None) -> Prepared:
        """What an agent of a running run begins from; a host does so with each agent before it calls a model.

        Without `agent_id` it is the chat's own, if it has one. Where the agent's conversation is by then is kept, so that a later move can take it back to there. Raises
        `Conflict` for a run that is not running, `OlderGeneration`, `ConversationTooLarge`, `NotFound`.
        """
        prepared = await self._write(who, answering.prepare, run_id, agent_id, self._limits)
        self.live.wake(run_id)
        return prepared

    async def answer(
        self,
        who: Principal,
        run_id: UUID,
        content: Content,
        turns: Sequence[AgentTurn | Mapping[str, Any]] = (),
        *,
        stopped: bool = False,
    ) -> Answered:
        """End a run with what it answered, and save what its agents know by now: all of it or nothing.

        Each of `turns`, a value or plain JSON, is all of the list that was sent to an agent's model, with its answer; without any, agents are
        told of the answer by the next run. One that was `stopped` is kept as far as it went, and calls that had not begun
        are answered as not run. Raises `RunEnded`, `Conflict` for one that is not running or not prepared, `LateSave` and
        `OlderGeneration` where the conversations were cleared or reset since, `ConversationTooLarge`, `Invalid` also for a
        list that leaves out what `prepare` gave, `NotFound`.
        """
        _check(content)
        said = Said(content, read_turns(turns), stopped)
        done, saved = await self._write(who, answering.answer, run_id, said, self._limits)
        self._told(who, run_id, "saved", saved)
        return done

    async def fail(self, who: Principal, run_id: UUID, reason: str) -> Answered:
        """End a live run without an answer, and say why in at most 1,000 characters. Raises `RunEnded`, `NotFound`."""
        reason = text_input("reason", reason, limit=LONGEST_REASON)
        done = await self._write(who, answering.fail, run_id, reason)
        self._told(who, run_id)
        return done

    async def clear(self, who: Principal, chat_id: UUID) -> Chat:
        """Take away all that was said in the chat and by its agents; the chat stays, and goes on in its workflow's present generation.

        Its messages, runs, notes, feedback and branches go, and the conversations of its workflow are cleared. A
        live run ends, and nothing comes of it. Raises `NotFound`.
        """
        cleared = await self._write(who, removing.clear, chat_id)
        self._told(who, cleared.run_id, "cleared", cleared.conversations)
        return cleared.chat

    async def delete(self, who: Principal, chat_id: UUID) -> None:
        """Delete the chat for good, with its agents' conversations; as `clear`, but nothing stays. Raises `NotFound`."""
        gone = await self._write(who, removing.delete, chat_id, self._quoted)
        self._told(who, gone.run_id, "purged", gone.conversations)

    async def quoting(
        self, organization_id: UUID, texts: Iterable[str], but: UUID | None = None
    ) -> list[UUID]:
        """The organization's chats that keep one of these texts, the newest first; none of the user `but`.

        For whoever has the right to see them all: nothing is changed here.
        """
        return await reading.quoting(self._storage, organization_id, texts, but)

    def _seen(self, revision: int) -> Seen:
        if not 0 <= revision <= LAST_GENERATION:
            raise Invalid(
                "expected_revision is the one that was read: 0 or more.", field="expected_revision"
            )
        return Seen(revision, self._limits.max_bytes)

    async def _change(
        self,
        who: Principal,
        run_id: UUID,
        change: Callable[Concatenate[Transaction, Principal, UUID, P], ChatRun],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> ChatRun:
        run = await self._write(who, change, run_id, *args, **kwargs)
        self._told(who, run_id)
        return run

    async def _write(
        self,
        who: Principal,
        change: Callable[Concatenate[Transaction, Principal, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        return await self._storage.write(organization, change, who, *args, **kwargs)

    def _told(
        self,
        who: Principal,
        run_id: UUID | None,
        action: ChangeAction = "saved",
        conversations: Iterable[Conversation] = (),
    ) -> None:
        """Wake whoever follows the run or the organization's events, and tell what became of conversations."""
        if run_id is not None:
            self.live.wake(run_id)
        self._listeners.tell(organization_of(who), action, *conversations)


def _switch(
    tx: Transaction, who: Principal, chat_id: UUID, message_id: UUID, seen: Seen
) -> tuple[Thread, list[Conversation]]:
    chat, conversations = sending.switch(tx, who, chat_id, message_id, seen)
    return reading.thread_of(tx, chat, None, MOST_LISTED), conversations


def _check_said(content: Content) -> None:
    """Raise `Invalid` also where nothing is said: a request of nothing else is one that no provider takes."""
    _check(content)
    blocks = [{"text": content}] if isinstance(content, str) else content
    texts = [each.get("text", "") for each in blocks if each.get("type", "text") == "text"]
    if len(texts) == len(blocks) and not any(str(text).strip() for text in texts):
        raise Invalid("content has nothing in it: say something.", field="content")


def _check(content: Content) -> None:
    check_content("content", content)
    size = len(written(content).encode())
    if size > LARGEST_MESSAGE:
        raise OverLimit(
            f"content has {size} bytes and may have {LARGEST_MESSAGE}: shorten it.",
            field="content",
            limit=LARGEST_MESSAGE,
        )
