"""Files of Anthropic's memory tool as tests ask for them."""

from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from memoranda import Memoranda
from memoranda.integrations.anthropic import AsyncMemoryTool
from memoranda.integrations.anthropic.paths import ROOT
from memoranda.tools.models import Decision
from tests.contract.tenants import Tenant


async def trusted(memoranda: Memoranda, tenant: Tenant) -> AsyncMemoryTool:
    """The tool of an agent that may change its memories by itself."""
    for tool in ("remember", "update", "forget"):
        await memoranda.tools.policies.set(tenant.owner, "scout", tool, Decision.ALLOW)
    return AsyncMemoryTool(memoranda, tenant.owner, agent="scout")


async def said(tool: AsyncMemoryTool, command: str, **given: Any) -> str:
    """What a command answers."""
    answer = await tool.call({"command": command, **given})
    assert isinstance(answer, str)
    return answer


async def refused(tool: AsyncMemoryTool, command: str, **given: Any) -> str:
    """Why a command is refused."""
    with pytest.raises(ToolError) as error:
        await tool.call({"command": command, **given})
    return str(error.value)


async def listed(tool: AsyncMemoryTool, path: str = ROOT) -> list[str]:
    """The paths that the view of a folder shows, it alone first."""
    head, *lines = (await said(tool, "view", path=path)).split("\n")
    assert head == (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    return [line.split("\t")[1] for line in lines]
