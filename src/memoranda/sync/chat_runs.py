"""The runs of chats, for scripts: what a host does with one, and what is told of it."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memoranda.conversations.chats.live.models import Heard, NewEvent, RunEvents, RunSnapshot
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    ChatRun,
    ChatRunStatus,
    Prepared,
)
from memoranda.conversations.models import Content
from memoranda.sync.opened import Room
from memoranda.words.page import Page


class ChatRuns(Room):
    """What a host does with a run; each verb is that of `Chats`, and what is told of a run of `LiveRuns`."""

    def run(self, run_id: UUID) -> ChatRun:
        """A run of a chat; see `Chats.run`."""
        return self._call(lambda at: at.chats.run(at.owner, run_id))

    def runs(
        self,
        *,
        status: ChatRunStatus = ChatRunStatus.QUEUED,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ChatRun]:
        """A page of the runs that stand so, the oldest first; see `LiveRuns.page`."""
        return self._call(
            lambda at: at.chats.live.page(
                at.owner,
                status=status,
                user_id=user_id,
                agent_id=agent_id,
                limit=limit,
                cursor=cursor,
            )
        )

    def pick_up(self, run_id: UUID, *, picked_up_by: str | None = None) -> ChatRun:
        """Take a run that waits to be picked up; see `Chats.pick_up`."""
        return self._call(lambda at: at.chats.pick_up(at.owner, run_id, picked_up_by=picked_up_by))

    def prepare(self, run_id: UUID, agent_id: UUID | None = None) -> Prepared:
        """What an agent of the run begins from; see `Chats.prepare`."""
        return self._call(lambda at: at.chats.prepare(at.owner, run_id, agent_id))

    def wait(self, run_id: UUID, reason: str) -> ChatRun:
        """Let a run wait for somebody; see `Chats.wait`."""
        return self._call(lambda at: at.chats.wait(at.owner, run_id, reason))

    def resume(self, run_id: UUID) -> ChatRun:
        """Let a run that waits go on; see `Chats.resume`."""
        return self._call(lambda at: at.chats.resume(at.owner, run_id))

    def answer(
        self,
        run_id: UUID,
        content: Content,
        turns: Sequence[AgentTurn | Mapping[str, Any]] = (),
        *,
        stopped: bool = False,
    ) -> Answered:
        """End a run with its answer; see `Chats.answer`."""
        return self._call(
            lambda at: at.chats.answer(at.owner, run_id, content, turns, stopped=stopped)
        )

    def fail(self, run_id: UUID, reason: str) -> Answered:
        """End a run without an answer; see `Chats.fail`."""
        return self._call(lambda at: at.chats.fail(at.owner, run_id, reason))

    def stop(self, run_id: UUID) -> ChatRun:
        """Let a run end; see `LiveRuns.stop`."""
        return self._call(lambda at: at.chats.live.stop(at.owner, run_id))

    def emit(
        self,
        run_id: UUID,
        events: Sequence[NewEvent | Mapping[str, Any]] = (),
        *,
        after: int | None = None,
    ) -> Heard:
        """Tell what happened in a run; see `LiveRuns.emit`."""
        return self._call(lambda at: at.chats.live.emit(at.owner, run_id, events, after=after))

    def snapshot(self, run_id: UUID) -> RunSnapshot:
        """What a run came to by now; see `LiveRuns.snapshot`."""
        return self._call(lambda at: at.chats.live.snapshot(at.owner, run_id))

    def events(self, run_id: UUID, *, after: int = 0, limit: int = 100) -> RunEvents:
        """The events of a run; see `LiveRuns.events`."""
        return self._call(
            lambda at: at.chats.live.events(at.owner, run_id, after=after, limit=limit)
        )
