"""A plain model of a chat: which messages there are, where it is, and what each agent was told on the way there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select

from memoranda.conversations.chats.keys import answer_of
from memoranda.conversations.chats.models import ChatMessage
from memoranda.conversations.models import Message
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request
from memoranda.storage import Transaction
from memoranda.storage.tables import METADATA

PICTURED: Final = (
    *("chats", "chat_messages", "chat_runs", "chat_run_cursors", "chat_branch_snapshots"),
    *("chat_notes", "chat_feedback", "chat_run_events", "chat_run_states", "runs"),
    *("conversations", "conversation_messages", "conversation_archive", "conversation_compactions"),
    *("workflow_generations", "conversation_fences", "events"),
)
"""Every table that a verb of a chat may write to, so that a refusal may be seen to have written to none."""
Picture = dict[str, list[str]]


def picture(tx: Transaction) -> Picture:
    """Every row of those tables."""
    return {
        name: sorted(str(row._asdict()) for row in tx.all(select(METADATA.tables[name])))
        for name in PICTURED
    }


@dataclass(frozen=True)
class Node:
    """A message, as far as the tree goes."""

    id: UUID
    parent_id: UUID | None
    sequence: int
    role: str
    content: Any
    run_id: UUID | None

    @classmethod
    def of(cls, message: ChatMessage) -> "Node":
        return cls(**{name: getattr(message, name) for name in cls.__dataclass_fields__})


@dataclass
class Note:
    """What happened between turns: it waits, is claimed by a run, and told once that has answered."""

    key: str
    line: str
    run: UUID | None = None
    told: bool = False


@dataclass
class Notes:
    """All notes of a chat, the oldest first."""

    all: list[Note] = field(default_factory=list)

    def add(self, key: str, line: str) -> None:
        """A newer one takes the place of what waits under its key."""
        self.all = [note for note in self.all if note.key != key or note.run is not None]
        self.all.append(Note(key, line))

    def claim(
        self, run: UUID, shown: Sequence[UUID | None], messages: Collection[UUID]
    ) -> list[str]:
        """What a run is told: what waits, what it claimed before, and what only a run that is not shown was told.

        Of ratings only those of the messages that are shown.
        """
        for place, note in enumerate(self.all):
            if answer_of(note.key) not in {None, *messages}:
                continue
            newer = any(later.key == note.key for later in self.all[place + 1 :])
            if note.run is None or (note.told and note.run not in shown and not newer):
                note.run, note.told = run, False
        return [note.line for note in self.all if note.run == run and not note.told]

    def settle(self, run: UUID, *, told: bool) -> None:
        """The run has ended; what was not told waits again, unless something newer does."""
        waiting = {note.key for note in self.all if note.run is None}
        claimed = [note for note in self.all if note.run == run and not note.told]
        for note in claimed:
            if told:
                note.told = True
            elif note.key in waiting:
                self.all.remove(note)
            else:
                note.run = None


@dataclass
class ChatModel:
    """What was acknowledged, and what follows from it."""

    nodes: dict[UUID, Node] = field(default_factory=dict)
    leaf: UUID | None = None
    revision: int = 0
    live: UUID | None = None
    saved: dict[UUID, dict[UUID, list[Message] | None]] = field(default_factory=dict)
    """For each run that has answered, what was saved for each of its agents; None is still to be looked at."""
    notes: Notes = field(default_factory=Notes)
    sent: dict[str, UUID] = field(default_factory=dict)
    """The message of each client's id."""
    feedback: dict[UUID, str] = field(default_factory=dict)
    """What is thought of each answer."""
    touched: dict[UUID, int] = field(default_factory=dict)
    """How often each agent's conversation was compacted or cleared, which no move goes back behind."""
    began: dict[UUID, dict[UUID, int]] = field(default_factory=dict)
    """For each run, how often that had been when it began with each of its agents."""

    def path(self, leaf: UUID | None) -> list[Node]:
        found = []
        while leaf is not None:
            found.append(self.nodes[leaf])
            leaf = self.nodes[leaf].parent_id
        return found[::-1]

    @property
    def shown(self) -> list[Node]:
        return self.path(self.leaf)

    @property
    def runs(self) -> list[UUID | None]:
        """The runs whose answers are shown."""
        return [node.run_id for node in self.shown if node.run_id]

    def claim(self, run: UUID) -> list[str]:
        """What a run that answers what is shown is told."""
        return self.notes.claim(run, self.runs, [node.id for node in self.shown])

    def untold(self, agent_id: UUID) -> list[Node]:
        """What the agent was not told yet: all behind the last answer of which something was saved for it."""
        shown = self.shown
        told = [
            at
            for at, node in enumerate(shown)
            if node.run_id and agent_id in self.saved.get(node.run_id, {})
        ]
        return shown[max(told, default=-1) + 1 :]

    def versions(self, node: Node) -> list[UUID]:
        beside = [each for each in self.nodes.values() if each.parent_id == node.parent_id]
        return [each.id for each in sorted(beside, key=lambda each: each.sequence)]

    def newest_below(self, branch: UUID) -> UUID:
        """The message of the branch that came last."""
        below = [each for each in self.nodes.values() if self.nodes[branch] in self.path(each.id)]
        return max(below, key=lambda each: each.sequence).id

    def told(self, agent_id: UUID) -> list[Message] | None:
        """What the agent's stored conversation has to be: what was saved for it last on the way to what is shown."""
        last = self.last_told(agent_id)
        return [] if last is None else self.saved[last][agent_id]

    def learn(self, agent_id: UUID, stored: list[Message]) -> None:
        """A look has told what was saved last."""
        last = self.last_told(agent_id)
        if last is not None:
            self.saved[last][agent_id] = stored

    def last_told(self, agent_id: UUID) -> UUID | None:
        """The last run on the way to what is shown in which something was saved for the agent."""
        runs = [node.run_id for node in self.shown if node.run_id is not None]
        return next((run for run in reversed(runs) if agent_id in self.saved.get(run, {})), None)

    @property
    def disturbed(self) -> bool:
        """Whether a move may be impossible."""
        return any(self.touched.values())

    def is_behind(self, leaf: UUID | None) -> bool:
        """Whether the way to that message leaves a run that began before a compaction or clearing."""
        there = {node.id for node in self.path(leaf)}
        left = [node.run_id for node in self.shown if node.id not in there]
        return any(
            count != self.touched.get(agent, 0)
            for run in left
            if run is not None
            for agent, count in self.began.get(run, {}).items()
        )

    def forget(self) -> None:
        """Everything was cleared away."""
        self.nodes, self.leaf, self.live, self.saved, self.sent = {}, None, None, {}, {}
        self.notes, self.touched, self.began, self.feedback = Notes(), {}, {}, {}


def texts(messages: Sequence[Message]) -> list[Any]:
    """What messages say."""
    return [message.content for message in messages]


def contents(nodes: Sequence[Node]) -> list[Any]:
    """What nodes say."""
    return [node.content for node in nodes]


def same(before: Picture, after: Picture) -> Mapping[str, object]:
    """What differs between two pictures, by its table."""
    return {
        name: [
            row
            for row in before[name] + after[name]
            if before[name].count(row) != after[name].count(row)
        ]
        for name in before
        if before[name] != after[name]
    }


def refusals(sent: Sequence[Message]) -> list[str]:
    """What any provider would refuse of a request."""
    return [
        f"{provider}: {fault}"
        for provider in CAPABILITIES
        for fault in check_request(provider, build_request(provider, sent))
    ]
