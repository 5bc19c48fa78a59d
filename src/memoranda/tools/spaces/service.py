"""The verbs of spaces: publish, list, withdraw, and be bound to one."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for
from memoranda.access.store import check_subject
from memoranda.runs.store import record_activity
from memoranda.storage import Storage, Transaction
from memoranda.tools.models import ResetPolicy, ToolSpace
from memoranda.tools.nodes import check_spaces, check_writers
from memoranda.tools.registry import ToolRegistry
from memoranda.tools.spaces import store
from memoranda.tools.spaces.spelling import id_input, spelled
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 200
LISTING: Final = "spaces"
PUBLISHED: Final = "tool_space_published"
WITHDRAWN: Final = "tool_space_withdrawn"


@checks_shapes
class ToolSpaces:
    """Nodes of workflows that call tools. Both ids are a host's own, and no two are alike that differ at all."""

    def __init__(self, storage: Storage, registry: ToolRegistry) -> None:
        self._storage = storage
        self._registry = registry

    async def publish(
        self,
        who: Principal,
        workflow_id: str,
        node_id: str,
        *,
        agent_id: UUID | None = None,
        tools: Sequence[str],
        reset_policy: ResetPolicy | None = None,
    ) -> ToolSpace:
        """Let the node call these tools, for that agent where one is named. For owners.

        Published again, it keeps its id and its memories and takes the new tools and agent; its
        keys of another agent are revoked. One that was withdrawn finds its memories again. Its
        memories are kept where the workflow is reset, or forgotten, as `reset_policy` says; without
        one that stays as it is, and a new space keeps them.
        Raises `WriterNeedsAgent` where a tool writes and no agent is named, `NotInSpaces` for a tool
        that no space can call, `NotFound`
        for an unknown tool or agent, `Invalid` and `OverLimit` with the field.
        """
        organization = organization_for(who, Permission.MANAGE_TOOLS)
        workflow_id, node_id = id_input("workflow_id", workflow_id), id_input("node_id", node_id)
        names = self._callable(tools, agent_id)
        return await self._storage.write(
            organization,
            _publish,
            who,
            workflow_id,
            node_id,
            agent_id=agent_id,
            tools=names,
            reset_policy=reset_policy,
        )

    async def page(
        self, who: Principal, *, limit: int = 50, cursor: str | None = None
    ) -> Page[ToolSpace]:
        """Spaces, the newest first, at most `limit` (1 to 200). Raises `Invalid` for a cursor that is not this list's."""
        organization = organization_for(who, Permission.READ_TOOLS)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(LISTING, cursor)
        found = await self._storage.read(organization, store.page, before, limit + 1)
        return cut_page(LISTING, found, limit)

    async def get(self, who: Principal, space_id: UUID) -> ToolSpace:
        """The space. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_TOOLS)
        return await self._storage.read(organization, store.get, space_id)

    async def withdraw(self, who: Principal, space_id: UUID) -> ToolSpace:
        """Take the space away: its keys open nothing from now on, and what waits in it is dropped. For owners.

        No caller can reach its memories any more, unless the node is published again; they can
        be erased. Answers what it was. Raises `NotFound`.
        """
        organization = organization_for(who, Permission.MANAGE_TOOLS)
        return await self._storage.write(organization, _withdraw, who, space_id)

    async def bound(
        self, who: Principal, workflow_id: str, node_id: str, *, user_id: UUID | None = None
    ) -> Principal:
        """Whom a node acts as that calls tools within this process, for a user where one is named.

        It is what a key of the space would be, and is asked for at each run, because a space may
        change. For owners; raises `NotFound` for an unknown space or user.
        """
        organization = organization_for(who, Permission.MANAGE_TOOLS)
        name = spelled(id_input("workflow_id", workflow_id), id_input("node_id", node_id))
        return await self._storage.read(organization, _bound, organization, name, user_id)

    def _callable(self, tools: Sequence[str], agent_id: UUID | None) -> list[str]:
        """Their names, each once, in the order given."""
        known = [self._registry.tool(name) for name in dict.fromkeys(tools)]
        if not known:
            raise Invalid("A space calls tools: name at least one.", field="tools")
        check_spaces(known, field="tools")
        check_writers("space", known, agent_id, field="agent_id")
        return [tool.name for tool in known]


def _publish(
    tx: Transaction,
    who: Principal,
    workflow_id: str,
    node_id: str,
    *,
    agent_id: UUID | None,
    tools: list[str],
    reset_policy: ResetPolicy | None,
) -> ToolSpace:
    check_subject(tx, user_id=None, agent_id=agent_id)
    name = spelled(workflow_id, node_id)
    space = store.publish(
        tx,
        workflow_id,
        node_id,
        name,
        agent_id=agent_id,
        tools=tools,
        reset_policy=reset_policy,
    )
    record_activity(tx, PUBLISHED, subject_id=space.id, user_id=who.user_id, tools=len(space.tools))
    return space


def _withdraw(tx: Transaction, who: Principal, space_id: UUID) -> ToolSpace:
    space = store.withdraw(tx, space_id)
    record_activity(tx, WITHDRAWN, subject_id=space.id, user_id=who.user_id)
    return space


def _bound(tx: Transaction, organization_id: UUID, name: str, user_id: UUID | None) -> Principal:
    space = store.named(tx, name)
    if space is None:
        raise store.unknown_space(name)
    check_subject(tx, user_id=user_id, agent_id=None)
    return Principal(
        organization_id=organization_id,
        role=Role.READ_ONLY if space.agent_id is None else Role.AGENT,
        user_id=user_id,
        agent_id=space.agent_id,
        space=space,
    )
