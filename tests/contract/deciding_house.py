"""The real memory tool behind the one door, with all that people decide about it."""

from datetime import timedelta
from typing import Any, Self
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.memories.ways import DEFAULT_WAYS, Ways
from memoranda.runs import store as runs
from memoranda.storage import Storage
from memoranda.tools.approvals.service import Approvals
from memoranda.tools.invoker import ToolInvoker
from memoranda.tools.memory.tools import memory_tools
from memoranda.tools.models import Approval, Course, ToolResult
from memoranda.tools.policies.service import ToolPolicies
from memoranda.tools.registry import ToolRegistry
from memoranda.tools.spaces.service import ToolSpaces
from tests.contract.tenants import Tenant

NO_COURSE = Course()


class DecidingHouse:
    """One opening of a database, with every part that has to do with tools."""

    def __init__(self, storage: Storage, *, most: int = 200, ways: Ways = DEFAULT_WAYS) -> None:
        self.heard: list[UUID] = []
        self.most = most
        self.storage = storage
        self.memories = Memories(storage, ways)
        self.knows(ToolRegistry(memory_tools(self.memories, ways, chars=32_000)))

    def knows(self, registry: ToolRegistry) -> Self:
        """Let there be these tools from now on."""
        self.registry = registry
        self.policies = ToolPolicies(self.storage, registry)
        self.approvals = Approvals(
            self.storage, registry, self.heard.append, kept=timedelta(days=30)
        )
        self.spaces = ToolSpaces(self.storage, registry)
        self.tools = ToolInvoker(self.storage, registry, max_approvals=self.most)
        return self

    async def call(
        self,
        who: Principal,
        tool: str,
        arguments: dict[str, Any],
        *,
        key: str | None = None,
        course: Course = NO_COURSE,
    ) -> ToolResult:
        return await self.tools.call(who, tool, arguments, key=key, course=course)

    async def answer(self, who: Principal, tool: str, key: str | None = None, **given: Any) -> Any:
        """What a call is answered, which has to be no refusal."""
        result = await self.call(who, tool, given, key=key)
        assert result.answer is not None, result.refusal
        return result.answer

    async def code(self, who: Principal, tool: str, key: str | None = None, **given: Any) -> str:
        """Why a call is refused, which it has to be."""
        result = await self.call(who, tool, given, key=key)
        assert result.refusal is not None, result.answer
        return result.refusal.code

    async def waiting(
        self,
        who: Principal,
        memory: Memory,
        content: str,
        *,
        key: str | None = None,
        course: Course = NO_COURSE,
    ) -> UUID:
        """The approval that a change of the memory waits for."""
        given = change(memory, content)
        result = await self.call(who, "update", given, key=key, course=course)
        assert result.answer is not None, result.refusal
        assert result.answer["outcome"] == "waiting"
        return UUID(result.answer["approval_id"])

    async def listed(self, who: Principal, status: str = "waiting") -> list[Approval]:
        page = await self.approvals.page(who, status=status, limit=200)
        assert page.next_cursor is None
        return page.items


def change(memory: Memory, content: str) -> dict[str, Any]:
    """The arguments that change what a memory says."""
    return {
        "memory_id": str(memory.id),
        "expected_version": memory.version,
        "patch": {"content": content},
    }


async def activities(storage: Storage, tenant: Tenant) -> list[Any]:
    """The organization's activities about tools, the oldest first."""
    found = await storage.read(tenant.owner.organization_id, runs.activities_before, None, 500)
    return [each for each in reversed(found) if each.type.startswith("tool_")]
