"""What an agent is asked: all that it has not been told of the path that is shown, within one transaction."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from memoranda.conversations.chats import store, tree
from memoranda.conversations.chats.branches import store as branches
from memoranda.conversations.chats.models import Chat, ChatMessage, ChatRun
from memoranda.conversations.chats.notes.lines import ahead
from memoranda.conversations.chats.store import Place
from memoranda.conversations.content import written
from memoranda.conversations.endings import close_unanswered_tool_calls
from memoranda.conversations.models import Message
from memoranda.storage import Transaction

LEFT_OUT: Final = "[The {} messages of this chat before this one are left out here.]"


def asked(
    tx: Transaction,
    chat: Chat,
    run: ChatRun,
    agent_id: UUID | None,
    *,
    shown: Sequence[Place],
    lines: Sequence[str],
    budget: int,
) -> list[Message]:
    """What of the path `shown` no run has saved for this agent, and at last what this run answers, with the notes ahead.

    One that joins later is told the path so far. What comes before the last message has at most `budget` bytes: the
    oldest turns go first, and a line says so.
    """
    untold = tree.untold(shown, branches.told(tx, chat.id, agent_id))
    (last,) = store.messages(tx, [run.message_id])
    earlier = _newest(tx, untold[:-1], budget)
    said = [Message(role=each.role, content=each.content) for each in earlier]
    left_out = len(untold) - 1 - len(earlier)
    if said and left_out:
        line = LEFT_OUT.format(left_out)
        said[0] = said[0].model_copy(update={"content": ahead([line], said[0].content)})
    elif left_out:
        lines = [LEFT_OUT.format(left_out), *lines]
    asked = Message(role=last.role, content=ahead(lines, last.content))
    return [*close_unanswered_tool_calls(said), asked]


def _newest(tx: Transaction, places: Sequence[Place], budget: int) -> list[ChatMessage]:
    """The last of these messages that have room, beginning with what a person said."""
    kept: list[ChatMessage] = []
    for message in _from_the_end(tx, places):
        budget -= len(written(message.content).encode())
        if budget < 0:
            break
        kept.append(message)
    while kept and len(kept) < len(places) and kept[-1].role != "user":
        kept.pop()
    return kept[::-1]


def _from_the_end(tx: Transaction, places: Sequence[Place]) -> Iterator[ChatMessage]:
    """Each message, the last first, read a few at a time."""
    for end in range(len(places), 0, -store.AT_ONCE):
        some = places[max(end - store.AT_ONCE, 0) : end]
        yield from reversed(store.messages(tx, [place.id for place in some]))
