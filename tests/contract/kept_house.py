"""What frameworks keep of somebody, said in a word of their own: a row in every table of theirs."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID
from zlib import crc32

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.conversations.branches.models import Branch
from memoranda.conversations.histories.models import History, HistoryEntry
from memoranda.conversations.histories.service import Histories
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.sessions.models import Seen, SessionEvent, SessionName, States
from memoranda.conversations.sessions.service import Sessions
from memoranda.graphs.checkpoints.models import At, Channel, NewCheckpoint, Part, Write
from memoranda.graphs.items.models import PutItem

NOON = datetime(2027, 1, 31, 12, tzinfo=UTC)
ROOMY = 1_000_000
TABLES = (
    *("graph_holders", "graph_items", "graph_checkpoints", "graph_channels", "graph_writes"),
    *("history_entries", "histories", "history_tips"),
    *("agent_sessions", "agent_session_events", "agent_session_states"),
    *("conversation_branches", "conversations", "conversation_messages"),
)
"""The tables of what frameworks keep, but for vectors, which need an embedder."""


@dataclass(frozen=True)
class Keeping:
    """For whom frameworks keep something, and the word in all of it."""

    memoranda: Memoranda
    who: Principal
    word: str
    user_id: UUID | None
    agent_id: UUID | None = None

    @property
    def thread(self) -> str:
        return f"{self.word}-thread"

    @property
    def flow(self) -> ConversationKey:
        """A key that does not hold the word: a host's ids of workflows stay, with the fences of what is purged."""
        return ConversationKey(
            workflow_id=f"flow-{crc32(self.word.encode())}", agent_id=self.agent_id
        )

    @property
    def session(self) -> SessionName:
        return SessionName(application="desk", person=f"{self.user_id}", name=f"{self.word}-talk")

    async def everything(self) -> None:
        """A row in every table."""
        await self.graph()
        await self.history()
        await self.sessions()
        await self.branches()

    async def graph(self) -> None:
        """An item, and a thread with a checkpoint, a channel's value and a write."""
        subject = {"user_id": self.user_id, "agent_id": self.agent_id}
        graphs = self.memoranda.graphs
        put = PutItem((self.word, "notes"), f"{self.word}-key", {"said": f"{self.word} says"})
        await graphs.items.batch(self.who, [put], **subject)
        await graphs.checkpoints.keep(self.who, self.checkpoint("1"), **subject)
        await graphs.checkpoints.write(
            self.who,
            At(self.thread, self.word, "1"),
            f"{self.word}-task",
            [Write(0, f"{self.word}-channel", packed(f"{self.word} writes"))],
            **subject,
        )

    def checkpoint(self, checkpoint_id: str, size: int = 0) -> NewCheckpoint:
        """A checkpoint in which the word stands in each part."""
        name = f"{self.word}-channel"
        return NewCheckpoint(
            thread_id=self.thread,
            namespace=self.word,
            checkpoint_id=checkpoint_id,
            parent_id=None,
            run_id=None,
            channels={name: checkpoint_id},
            state=packed(f"{self.word} is the state"),
            metadata=Part("json", b'{"of": "%b"}' % self.word.encode()),
            values=[Channel(name, checkpoint_id, packed(f"{self.word} held" + "x" * size))],
        )

    async def history(self, name: str = "", *, names: tuple[str, ...] = ("a", "b", "c")) -> None:
        """A history of these entries, whose last two are tips of two branches."""
        entries = [
            HistoryEntry(
                name=f"{self.word}-{each}",
                parent=None if number == 0 else f"{self.word}-{names[0]}",
                content=f'{{"said": "{self.word} says {each}"}}',
            )
            for number, each in enumerate(names)
        ]
        record = History(
            name=name or f"{self.word}-talk",
            scope=f"{self.word}-scope",
            revision="1",
            record=f'{{"of": "{self.word}"}}',
            tips=tuple(each.name for each in entries[-2:]),
            updated_at=NOON,
        )
        service = Histories(self.memoranda.storage, max_bytes=ROOMY)
        await service.write(self.who, record, entries, expected_revision=None, user_id=self.user_id)

    async def sessions(self) -> None:
        """A session with an event, and with state of all three kinds, of which the application's says nothing."""
        service = Sessions(self.memoranda.storage, max_bytes=ROOMY)
        said = {"said": f"{self.word} says"}
        states = States(application={"open": True}, person=said, session=said)
        await service.create(self.who, self.session, states, updated=1.0)
        event = SessionEvent(
            name=f"{self.word}-event", at=2.0, content=f'{{"said": "{self.word} says"}}'
        )
        await service.append(self.who, self.session, event, States(), seen=Seen(0, 1.0))

    async def branches(self) -> tuple[UUID, Branch]:
        """A conversation that was branched twice, of which one branch has ended; its id, and the branch that goes on."""
        service = self.memoranda.conversations.branches
        asked = [Message(role="user", content=f"{self.word} asks {n}") for n in range(2)]
        by = {"user_id": self.user_id}
        there = await service.append(self.who, self.flow, asked, **by)
        made = await service.create(self.who, self.flow, turn=2, name=f"{self.word}-way", **by)
        said = [Message(role="assistant", content=f"{self.word} answers")]
        await service.append(self.who, self.flow, said, branch=made.name, **by)
        await service.create(self.who, self.flow, turn=2, name=f"{self.word}-ended", **by)
        await service.delete(self.who, self.flow, f"{self.word}-ended", **by)
        return there.id, made


def packed(text: str) -> Part:
    """A text as MessagePack has it: how long it is, and then its bytes, and a number."""
    body = text.encode()
    return Part("msgpack", b"\x92\xdb" + len(body).to_bytes(4) + body + b"\xcc\x82")
