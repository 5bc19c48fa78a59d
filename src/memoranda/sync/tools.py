"""Tools, for scripts: call them, as an agent or not, and decide what agents' calls come to."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memoranda import app
from memoranda.access.models import Principal, Role
from memoranda.sync.opened import Opened
from memoranda.tools.inbox.models import Waiting
from memoranda.tools.models import (
    Approval,
    Course,
    Decision,
    ToolCall,
    ToolOffer,
    ToolPolicy,
    ToolResult,
)
from memoranda.words.page import Page


class ToolVerbs(Opened):
    """The tools that a model can be given, their policies, and the calls that wait."""

    def tools(self) -> list[ToolOffer]:
        """The tools that a model can be given, with their schemas; see `Tools.offers`."""
        return self._call(lambda at: at.tools.offers(at.owner))

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        key: str | None = None,
        run_id: UUID | None = None,
    ) -> ToolResult:
        """Do a model's call of a tool, as an agent where one is named; see `Tools.call`."""
        course = Course(run_id=run_id)
        return self._call(
            lambda at: at.tools.call(
                _caller(at.owner, agent_id, user_id), tool, dict(arguments), key=key, course=course
            )
        )

    def calls(self, *, limit: int = 50, cursor: str | None = None) -> Page[ToolCall]:
        """A page of the journal of calls, the newest first; see `Journal.page`."""
        return self._call(lambda at: _calls(at, limit, cursor))

    def approvals(self, *, limit: int = 50, cursor: str | None = None) -> Page[Approval]:
        """A page of the calls that wait for a person; see `Approvals.page`."""
        return self._call(lambda at: at.tools.approvals.page(at.owner, limit=limit, cursor=cursor))

    def inbox(self, *, limit: int = 50, cursor: str | None = None) -> Page[Waiting]:
        """A page of all that waits for a person; see `Inbox.page`."""
        return self._call(lambda at: at.inbox.page(at.owner, limit=limit, cursor=cursor))

    def approve(self, approval_id: UUID) -> Approval:
        """Let a call that waits be done; see `Approvals.approve`."""
        return self._call(lambda at: at.tools.approvals.approve(at.owner, approval_id))

    def deny(self, approval_id: UUID) -> Approval:
        """Refuse a call that waits; see `Approvals.deny`."""
        return self._call(lambda at: at.tools.approvals.deny(at.owner, approval_id))

    def set_tool_policy(self, agent: UUID | str, tool: str, decision: Decision) -> ToolPolicy:
        """Say what an agent may do with a tool; see `ToolPolicies.set`."""
        return self._call(lambda at: at.tools.policies.set(at.owner, agent, tool, decision))


def _caller(owner: Principal, agent_id: UUID | None, user_id: UUID | None) -> Principal:
    """The agent, perhaps for a user, as a key of it would be; the owner where none is named."""
    if agent_id is None:
        return owner
    return Principal(
        organization_id=owner.organization_id,
        role=Role.AGENT,
        agent_id=agent_id,
        user_id=user_id,
    )


async def _calls(at: app.Memoranda, limit: int, cursor: str | None) -> Page[ToolCall]:
    await at.tools.settled()
    return await at.tools.journal.page(at.owner, limit=limit, cursor=cursor)
