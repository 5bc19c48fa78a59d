"""The verbs of what frameworks keep, all together: count it, export it, and find where a text is quoted in it."""

from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.reach import EVERYBODY, Reach, reach_of
from memoranda.access.roles import Permission, organization_for
from memoranda.conversations.branches import store as branches
from memoranda.conversations.histories.kept import store as histories
from memoranda.conversations.histories.kept.service import KeptHistories
from memoranda.conversations.histories.kept.store import Whose
from memoranda.conversations.service import Conversations
from memoranda.conversations.sessions.kept import store as sessions
from memoranda.conversations.sessions.kept.service import KeptSessions
from memoranda.graphs.namespaces import store as namespaces
from memoranda.graphs.service import Graphs
from memoranda.graphs.threads import store as threads
from memoranda.kept.lines import Lines, header
from memoranda.kept.models import KeptCounts
from memoranda.memories.removal.models import QuotedInKept, QuotingState, QuotingThread
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import NotFound
from memoranda.words.given import checks_shapes

PAGE: Final = 100


@checks_shapes
@dataclass(frozen=True)
class Kept:
    """What agent frameworks keep: graphs' threads and items, histories, sessions, and branches of conversations."""

    storage: Storage
    graphs: Graphs
    histories: KeptHistories
    sessions: KeptSessions
    conversations: Conversations

    async def counts(self, who: Principal, *, user_id: UUID | None = None) -> KeptCounts:
        """How much of each kind is kept for the user named, or of all that the caller may see."""
        reach, organization = reach_of(who, user_id), _allowed(who)
        return await self.storage.read(organization, _counts, reach, hosts=_sees_hosts(who))

    async def export(self, who: Principal, *, user_id: UUID | None = None) -> AsyncIterator[str]:
        """All that is kept for the user named, or that the caller may see, line by line as JSON.

        After a header, each line is a value with its `kind`, and the last one, `end`, says how many of each
        there were; each ends with a line feed. Bodies of checkpoints are in base64, each once, and long
        ones in pieces. Pages are read one transaction each, so that it is no picture of one moment, and
        what is deleted meanwhile is left out. Raises `Refused`.
        """
        reach, organization, lines = reach_of(who, user_id), _allowed(who), Lines()
        yield header()
        async for each in self._of_graphs(lines, organization, reach):
            yield each
        if _sees_hosts(who):
            async for each in self._of_histories(lines, who, organization, reach):
                yield each
            async for each in self._of_sessions(lines, who, organization, reach):
                yield each
        async for each in self._of_branches(lines, who, organization, reach):
            yield each
        yield lines.end()

    async def quoting(
        self, organization_id: UUID, texts: Collection[str], but: UUID | None = None
    ) -> QuotedInKept:
        """Where frameworks keep one of these texts; not what is the user's `but`.

        For whoever has the right to see it all, and to decide what becomes of it: nothing is changed here.
        """
        quoted, states = await self.sessions.quoting(organization_id, texts, but)
        return QuotedInKept(
            threads=[
                QuotingThread(**each._asdict())
                for each in await self.graphs.threads.quoting(organization_id, texts, but)
            ],
            items=await self.graphs.namespaces.quoting(organization_id, texts, but),
            histories=await self.histories.quoting(organization_id, texts, but),
            sessions=quoted,
            states=[QuotingState(**each._asdict()) for each in states],
        )

    async def _of_graphs(
        self, lines: Lines, organization: UUID, reach: Reach
    ) -> AsyncIterator[str]:
        async for item in self.graphs.namespaces.kept(organization, reach):
            yield lines.line("item", item)
        async for place, thread in self.graphs.threads.places(organization, reach):
            of = {"thread_id": thread.thread_id, **_of_both(thread.user_id, thread.agent_id)}
            yield lines.line("thread", thread)
            async for namespace, piece in self.graphs.threads.pieces(organization, place):
                yield lines.line("part", piece, **of, namespace=namespace)

    async def _of_histories(
        self, lines: Lines, who: Principal, organization: UUID, reach: Reach
    ) -> AsyncIterator[str]:
        async for history in self.histories.kept(organization, _whose(reach)):
            with suppress(NotFound):
                shown = await self.histories.get(who, history.id)
                of = {"history_id": str(history.id), "user_id": _text(history.user_id)}
                yield lines.line("history", shown)
                async for entry in self.histories.said(organization, history.id):
                    yield lines.line("history_entry", entry, **of)

    async def _of_sessions(
        self, lines: Lines, who: Principal, organization: UUID, reach: Reach
    ) -> AsyncIterator[str]:
        user_id = _only_user(reach)
        async for session in self.sessions.kept(organization, user_id):
            with suppress(NotFound):
                shown = await self.sessions.get(who, session.id)
                of = {"session_id": str(session.id), "user_id": _text(session.user_id)}
                yield lines.line("session", shown)
                async for event in self.sessions.said(organization, session.id):
                    yield lines.line("session_event", event, **of)
        async for state in self.sessions.kept_states(organization, user_id):
            yield lines.line("session_state", state)

    async def _of_branches(
        self, lines: Lines, who: Principal, organization: UUID, reach: Reach
    ) -> AsyncIterator[str]:
        async for branch in self.conversations.branches.kept(organization, reach):
            of = {
                "conversation_id": str(branch.id),
                **_of_both(branch.user_id, branch.agent_id),
            }
            with suppress(NotFound):
                page = await self.conversations.message_page(who, branch.id, limit=PAGE)
                yield lines.line("branch", branch)
                while True:
                    for message in page.items:
                        yield lines.line("branch_message", message, **of)
                    if (after := page.next_after) is None:
                        break
                    page = await self.conversations.message_page(
                        who, branch.id, after=after, limit=PAGE
                    )


def kept_of(storage: Storage, graphs: Graphs, conversations: Conversations) -> Kept:
    """What frameworks keep in an opened product."""
    return Kept(storage, graphs, KeptHistories(storage), KeptSessions(storage), conversations)


def _allowed(who: Principal) -> UUID:
    organization_for(who, Permission.READ_GRAPHS)
    return organization_for(who, Permission.READ_CONVERSATIONS)


def _sees_hosts(who: Principal) -> bool:
    """Whether the caller may see what names no agent: an agent's key may not."""
    return who.role is not Role.AGENT


def _text(id_: UUID | None) -> str | None:
    return None if id_ is None else str(id_)


def _of_both(user_id: UUID | None, agent_id: UUID | None) -> dict[str, str | None]:
    """Whose it is; the organization's own where it is neither's."""
    return {"user_id": _text(user_id), "agent_id": _text(agent_id)}


def _whose(reach: Reach) -> Whose:
    return Whose(reach.first_user, reach.last_user)


def _only_user(reach: Reach) -> UUID | None:
    return reach.first_user if reach.first_user == reach.last_user else None


def counts_of_user(tx: Transaction, user_id: UUID) -> KeptCounts:
    """How much is kept for a user, with whichever agent."""
    return _counts(tx, EVERYBODY._replace(first_user=user_id, last_user=user_id), hosts=True)


def things(counts: KeptCounts) -> int:
    """How many things these are that stand by themselves; branches are conversations, and told with them."""
    return (
        counts.checkpoints
        + counts.items
        + counts.histories
        + counts.sessions
        + counts.session_states
    )


def _counts(tx: Transaction, reach: Reach, *, hosts: bool) -> KeptCounts:
    said = histories.count(tx, _whose(reach)) if hosts else (0, 0)
    kept = sessions.count(tx, _only_user(reach)) if hosts else (0, 0, 0)
    return KeptCounts(
        checkpoints=threads.count(tx, reach),
        items=namespaces.count(tx, reach),
        histories=said[0],
        history_entries=said[1],
        sessions=kept[0],
        session_events=kept[1],
        session_states=kept[2],
        branches=branches.count(tx, reach),
    )
