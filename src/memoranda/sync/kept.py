"""What agent frameworks keep, for scripts: histories, sessions, branches, and all of it together."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from uuid import UUID

from memoranda import app
from memoranda.conversations.branches.models import KeptBranch
from memoranda.conversations.histories.kept.models import KeptEntry, KeptHistory, ShownHistory
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.sessions.kept.models import (
    EventPage,
    KeptSession,
    KeptState,
    ShownSession,
)
from memoranda.kept.models import KeptCounts
from memoranda.sync.opened import Room
from memoranda.words.page import Page
from memoranda.words.purged import RowsPurged


class Kept(Room):
    """What frameworks keep in forms of their own; each verb is that of `Kept`, `KeptHistories`, `KeptSessions` or `Branches`."""

    def counts(self, *, user_id: UUID | None = None) -> KeptCounts:
        """How much of each kind there is; see `Kept.counts`."""
        return self._call(lambda at: at.kept.counts(at.owner, user_id=user_id))

    def export(self, *, user_id: UUID | None = None) -> Iterator[str]:
        """All of it, line by line; see `Kept.export`."""
        lines = self._call(partial(_export, user_id=user_id))
        while (line := self._call(lambda _: anext(lines, None))) is not None:
            yield line

    def histories(
        self,
        *,
        user_id: UUID | None = None,
        scope: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[KeptHistory]:
        """A page of histories; see `KeptHistories.page`."""
        return self._call(
            lambda at: at.kept.histories.page(
                at.owner, user_id=user_id, scope=scope, limit=limit, cursor=cursor
            )
        )

    def history(self, history_id: UUID) -> ShownHistory:
        """A history with its record; see `KeptHistories.get`."""
        return self._call(lambda at: at.kept.histories.get(at.owner, history_id))

    def entries(
        self, history_id: UUID, *, limit: int = 100, cursor: str | None = None
    ) -> Page[KeptEntry]:
        """A page of what was said in a history; see `KeptHistories.entries`."""
        return self._call(
            lambda at: at.kept.histories.entries(at.owner, history_id, limit=limit, cursor=cursor)
        )

    def purge_history(self, history_id: UUID) -> RowsPurged:
        """Delete a history for good; see `KeptHistories.purge`."""
        return self._call(lambda at: at.kept.histories.purge(at.owner, history_id))

    def sessions(
        self,
        *,
        application: str | None = None,
        user_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[KeptSession]:
        """A page of sessions; see `KeptSessions.page`."""
        return self._call(
            lambda at: at.kept.sessions.page(
                at.owner, application=application, user_id=user_id, limit=limit, cursor=cursor
            )
        )

    def session(self, session_id: UUID) -> ShownSession:
        """A session with its own state; see `KeptSessions.get`."""
        return self._call(lambda at: at.kept.sessions.get(at.owner, session_id))

    def events(self, session_id: UUID, *, after: int = 0, limit: int = 100) -> EventPage:
        """The events of a session; see `KeptSessions.events`."""
        return self._call(
            lambda at: at.kept.sessions.events(at.owner, session_id, after=after, limit=limit)
        )

    def purge_session(self, session_id: UUID) -> RowsPurged:
        """Delete a session for good; see `KeptSessions.purge`."""
        return self._call(lambda at: at.kept.sessions.purge(at.owner, session_id))

    def states(
        self, *, user_id: UUID | None = None, limit: int = 10, cursor: str | None = None
    ) -> Page[KeptState]:
        """A page of what outlives sessions; see `KeptSessions.states`."""
        return self._call(
            lambda at: at.kept.sessions.states(
                at.owner, user_id=user_id, limit=limit, cursor=cursor
            )
        )

    def purge_state(self, application: str, *, person: str = "") -> RowsPurged:
        """Delete for good what outlives sessions; see `KeptSessions.purge_state`."""
        return self._call(lambda at: at.kept.sessions.purge_state(at.owner, application, person))

    def branches(
        self,
        *,
        workflow_id: str | None = None,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[KeptBranch]:
        """A page of branches of conversations; see `Branches.page`."""
        return self._call(
            lambda at: at.conversations.branches.page(
                at.owner,
                workflow_id=workflow_id,
                user_id=user_id,
                agent_id=agent_id,
                limit=limit,
                cursor=cursor,
            )
        )

    def purge_branch(
        self,
        workflow_id: str,
        name: str,
        *,
        generation: int = 1,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
    ) -> RowsPurged:
        """Delete a branch for good; see `Branches.purge`."""
        key = ConversationKey(workflow_id=workflow_id, generation=generation, agent_id=agent_id)
        return self._call(
            lambda at: at.conversations.branches.purge(at.owner, key, name, user_id=user_id)
        )


async def _export(at: app.Memoranda, *, user_id: UUID | None) -> AsyncIterator[str]:
    return at.kept.export(at.owner, user_id=user_id)
