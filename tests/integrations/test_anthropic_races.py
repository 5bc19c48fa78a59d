"""One path is one file, however many runs of an agent create it or move something there at once."""

import asyncio

from anthropic.lib.tools import ToolError

from memoranda import Memoranda
from memoranda.integrations.anthropic import AsyncMemoryTool
from memoranda.tools.models import Decision
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda, other
from tests.integrations.memory_files import listed, said, trusted

__all__ = ["acme", "memoranda", "other"]

PATH = "/memories/same.md"
AT_ONCE = 4


async def told(tool: AsyncMemoryTool, command: str, **given: object) -> str:
    """What a command answers, or why it is refused."""
    try:
        return await said(tool, command, **given)
    except ToolError as error:
        return str(error)


def tools(memoranda: Memoranda, tenant: Tenant) -> list[AsyncMemoryTool]:
    return [AsyncMemoryTool(memoranda, tenant.owner, agent="scout") for _ in range(AT_ONCE)]


async def titles(memoranda: Memoranda, tenant: Tenant) -> list[str | None]:
    return [each.title for each in (await memoranda.memories.page(tenant.owner)).items]


async def test_one_of_several_runs_creates_a_path_and_the_others_are_told_that_it_is_there(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await trusted(memoranda, acme)
    asked = [
        told(each, "create", path=PATH, file_text=f"Said by number {number}.")
        for number, each in enumerate(tools(memoranda, acme))
    ]
    answers = sorted(await asyncio.gather(*asked))
    assert answers == [
        *[f"File {PATH} already exists"] * (AT_ONCE - 1),
        f"File created successfully at: {PATH}",
    ]
    assert await titles(memoranda, acme) == [PATH]


async def test_one_of_several_runs_moves_its_file_to_a_path(
    memoranda: Memoranda, acme: Tenant
) -> None:
    first = await trusted(memoranda, acme)
    for number in range(AT_ONCE):
        path = f"/memories/{number}.md"
        await said(first, "create", path=path, file_text=f"Said by number {number}.")
    asked = [
        told(each, "rename", old_path=f"/memories/{number}.md", new_path=PATH)
        for number, each in enumerate(tools(memoranda, acme))
    ]
    answers = await asyncio.gather(*asked)
    assert answers.count(f"The destination {PATH} already exists") == AT_ONCE - 1
    assert (await titles(memoranda, acme)).count(PATH) == 1
    files = [path for path in await listed(first) if path.count("/") == 2 and path[-1] != "/"]
    assert len(files) == AT_ONCE


async def test_a_path_is_free_again_once_its_file_is_deleted_and_is_each_audiences_own(
    memoranda: Memoranda, acme: Tenant, other: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="One.")
    await said(tool, "delete", path=PATH)
    await said(tool, "create", path=PATH, file_text="Two.")
    await said(await trusted(memoranda, other), "create", path=PATH, file_text="Two.")
    # Who gives titles in other ways is held to nothing.
    await memoranda.tools.policies.set(acme.owner, "scout", "remember", Decision.ALLOW)
    key = acme.key_of(acme.scout)
    for text in ("Three.", "Four."):
        answer = await memoranda.tools.call(key, "remember", {"content": text, "title": "Notes"})
        assert answer.refusal is None
    assert sorted(map(str, await titles(memoranda, acme))) == [PATH, "Notes", "Notes"]


async def test_no_model_is_told_how_a_path_is_kept_for_one_file(
    memoranda: Memoranda, acme: Tenant
) -> None:
    offers = await memoranda.tools.offers(acme.key_of(acme.scout))
    assert not [offer.name for offer in offers if "title_once" in str(offer.input_schema)]
