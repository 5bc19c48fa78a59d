"""How a run goes on, each step within one transaction: picked up, prepared, answered or failed."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations import writing
from memoranda.conversations.chats import asking, store, tree
from memoranda.conversations.chats.branches import lists
from memoranda.conversations.chats.branches import store as branches
from memoranda.conversations.chats.branches.marks import Line, kept_upto, lines_of, mark_of
from memoranda.conversations.chats.branches.models import Cursor, Ground
from memoranda.conversations.chats.ending import become, finish
from memoranda.conversations.chats.errors import ended, history_left_out, not_now
from memoranda.conversations.chats.guarding import check_generation
from memoranda.conversations.chats.live import recording
from memoranda.conversations.chats.live.stopping import stopped_turn
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    Chat,
    ChatRun,
    ChatRunStatus,
    Prepared,
)
from memoranda.conversations.chats.notes import store as notes
from memoranda.conversations.chats.seeing import held_run
from memoranda.conversations.endings import mark_stopped
from memoranda.conversations.errors import not_seen
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.loading import load
from memoranda.conversations.models import Content, Conversation, LoadedConversation, Message
from memoranda.conversations.places import place_of
from memoranda.conversations.preparing import list_of
from memoranda.conversations.rows.store import Written
from memoranda.conversations.writing import Expected, Place
from memoranda.storage import Transaction
from memoranda.words.errors import Invalid


class Said(NamedTuple):
    """What a run answered, and what its agents' conversations are to be."""

    content: Content
    turns: Sequence[AgentTurn]
    stopped: bool


def pick_up(tx: Transaction, who: Principal, run_id: UUID, by: str | None) -> ChatRun:
    """Begin with a run that waits to be picked up; somebody else's is not picked up again."""
    chat, run = held_run(tx, who, run_id)
    check_generation(tx, chat)
    if run.status is not ChatRunStatus.QUEUED:
        if by is not None and run.status.live and recording.picked_up_by(tx, run.id) == by:
            return run
        raise not_now(run, "somebody has picked it up already.")
    return become(tx, run, ChatRunStatus.RUNNING, by=by, picked_up_at=tx.now)


def wait(tx: Transaction, who: Principal, run_id: UUID, reason: str) -> ChatRun:
    """Let a running run wait for something."""
    _, run = held_run(tx, who, run_id)
    if run.status is not ChatRunStatus.RUNNING:
        raise not_now(run, "only one that is running can wait.")
    return become(tx, run, ChatRunStatus.WAITING, reason=reason)


def resume(tx: Transaction, who: Principal, run_id: UUID) -> ChatRun:
    """Let a run that waits go on."""
    _, run = held_run(tx, who, run_id)
    if run.status is not ChatRunStatus.WAITING:
        raise not_now(run, "only one that waits can be resumed.")
    return become(tx, run, ChatRunStatus.RUNNING)


def prepare(
    tx: Transaction,
    who: Principal,
    run_id: UUID,
    agent_id: UUID | None,
    limits: ConversationLimits,
) -> Prepared:
    """What an agent begins from; where that was is kept once, and the notes that wait are given to the run."""
    chat, run = held_run(tx, who, run_id)
    check_generation(tx, chat)
    if run.status is not ChatRunStatus.RUNNING:
        raise not_now(run, "only one that is running begins with an agent.")
    place = _place(who, chat, agent_id)
    loaded = load(tx, place, limits)
    _check_own(chat, loaded.conversation)
    branches.record(tx, _cursor(tx, chat, run, place.subject.agent_id, loaded))
    shown = tree.path(store.outline(tx, chat.id), run.message_id)
    lines = notes.claim(tx, chat, run, [place.id for place in shown])
    store.see(tx, run.id)
    asked = asking.asked(
        tx,
        chat,
        run,
        place.subject.agent_id,
        shown=shown,
        lines=lines,
        budget=limits.seed_bytes,
    )
    return Prepared(
        run=run.model_copy(update={"seen_at": tx.now}), loaded=loaded, asked=asked, notes=lines
    )


def answer(
    tx: Transaction, who: Principal, run_id: UUID, said: Said, limits: ConversationLimits
) -> tuple[Answered, list[Conversation]]:
    """End the run with its answer, and let the conversations of its agents be what it came to: all of it or nothing."""
    chat, run = held_run(tx, who, run_id)
    check_generation(tx, chat)
    if run.status not in {ChatRunStatus.RUNNING, ChatRunStatus.STOPPING}:
        raise not_now(run, "pick it up, or resume it, and then answer.")
    started = recording.started_calls_of(tx, run.id)
    places = [_place(who, chat, turn.agent_id) for turn in said.turns]
    agents = sorted({place.subject.agent_id for place in places}, key=str)
    if len(agents) < len(places):
        raise Invalid("turns names an agent twice: give each its one list.", field="turns")
    for agent_id in agents:  # before anything is written, so that nobody waits for what comes last
        lists.hold(tx, chat, agent_id)
    saved = []
    for number, (turn, place) in enumerate(zip(said.turns, places, strict=True)):
        sent = stopped_turn([*turn.messages], started) if said.stopped else turn.messages
        expected = Expected(fence=turn.fence, digest=turn.expected_digest)
        made = _Turn(number, place, list_of(sent, limits.max_bytes), expected)
        saved.append(_save(tx, chat, run, made, limits))
    if said.stopped:
        content = _stopped(said.content)
        kept = content if content or saved else None
        done = finish(tx, chat, run, ChatRunStatus.STOPPED, answer=kept, state="stopped")
    else:
        done = finish(tx, chat, run, ChatRunStatus.COMPLETED, answer=said.content)
    return done, [conversation for conversation, changed in saved if changed]


def fail(tx: Transaction, who: Principal, run_id: UUID, reason: str) -> Answered:
    """End the run without an answer; its notes wait again."""
    chat, run = held_run(tx, who, run_id)
    if not run.status.live:
        raise ended(run)
    return finish(tx, chat, run, ChatRunStatus.FAILED, reason=reason)


def _place(who: Principal, chat: Chat, agent_id: UUID | None) -> Place:
    """Where the agent's conversation is; that of the chat's own agent, where none is named."""
    return place_of(who, lists.key_of(chat, agent_id or chat.agent_id), chat.user_id)


def _stopped(content: Content) -> Content:
    (marked,) = mark_stopped([Message(role="assistant", content=content)])
    return marked.content


class _Turn(NamedTuple):
    """What an agent's conversation is to be, and over what; `number` is its place among the turns."""

    number: int
    place: Place
    messages: Sequence[Written]
    expected: Expected


def _save(
    tx: Transaction, chat: Chat, run: ChatRun, turn: _Turn, limits: ConversationLimits
) -> tuple[Conversation, bool]:
    agent_id = turn.place.subject.agent_id
    began = branches.cursor(tx, run.id, agent_id)
    if began is None:
        raise not_now(run, "it has not begun with this agent: prepare it, then answer.")
    whole = _is_whole(tx, turn, began, limits)
    conversation, changed = writing.save(
        tx, turn.place, turn.messages, turn.expected, limits.max_bytes
    )
    _check_own(chat, conversation)
    if not whole:  # only now, since a list from before a clear is that first of all
        raise history_left_out(turn.number, began.given.length)
    branches.saved(tx, run.id, agent_id)
    return conversation, changed


def _is_whole(tx: Transaction, turn: _Turn, began: Cursor, limits: ConversationLimits) -> bool:
    """Whether the list begins with what the run was given, and goes on with what was asked.

    Where the conversation was written over since, it may begin with that; and where it was cleared or compacted since,
    nobody knows with what it was prepared again.
    """
    lines = [Line(each.role, each.digest) for each in turn.messages]
    kept = kept_upto(lines, began.given)
    if kept is None:
        present = load(tx, turn.place, limits)
        if _ground(tx, present) != began.ground:
            return True
        kept = kept_upto(lines, mark_of(lines_of(present.messages)))
    if kept is None:
        return False
    after = lines[kept:]
    return not after or any(line.role == "user" for line in after)


def _check_own(chat: Chat, conversation: Conversation | None) -> None:
    """Raise `NotFound` for what somebody else said under the key; nobody takes it for this chat's."""
    if conversation is not None and conversation.user_id != chat.user_id:
        raise not_seen(None)


def _cursor(
    tx: Transaction,
    chat: Chat,
    run: ChatRun,
    agent_id: UUID | None,
    loaded: LoadedConversation,
) -> Cursor:
    there = loaded.conversation
    stored = [] if there is None else branches.lines(tx, there.id)
    return Cursor(
        run.id,
        agent_id,
        chat.generation,
        _ground(tx, loaded),
        mark_of(stored),
        mark_of(lines_of(loaded.messages)),
    )


def _ground(tx: Transaction, loaded: LoadedConversation) -> Ground:
    there = loaded.conversation
    return Ground(loaded.fence, 0 if there is None else branches.compactions(tx, there.id))
