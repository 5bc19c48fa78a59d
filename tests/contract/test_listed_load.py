"""Lists of files tell how much of them arrives: to the token what the reports say, for one report's cost."""

from collections.abc import AsyncIterator

import pytest

from memoranda import Memoranda
from memoranda.files.errors import NotYourFile
from memoranda.files.models import AgentFile, LoadMode, WorkspaceFile
from memoranda.instructions.models import FileReport, ListedFiles
from memoranda.instructions.reporting import SEGMENT_OF
from memoranda.storage import Storage
from memoranda.words.errors import NotFound
from tests.contract.tenants import Tenant, new_tenant

LINE = "A line that takes its room, and then some more of it.\n"


@pytest.fixture
async def memoranda(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def zeta(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Zeta")


async def say(m: Memoranda, who: Tenant, name: str, body: str, agent: str | None = None) -> None:
    there = await m.files.get(who.owner, name, agent=agent)
    await m.files.write(who.owner, name, body, there.hash, agent=agent)


async def reports(m: Memoranda, who: Tenant, agent: str | None = None) -> list[FileReport]:
    names = WorkspaceFile if agent is None else AgentFile
    return [await m.load_meter.file(who.owner, name.value, agent=agent) for name in names]


async def test_the_organizations_list_says_what_the_reports_of_its_files_say(
    memoranda: Memoranda, acme: Tenant, zeta: Tenant
) -> None:
    await say(memoranda, acme, "voice", LINE * 200)
    await say(memoranda, acme, "about-you", LINE * 90 + "<|im_start|>é" * 40)
    await say(memoranda, acme, "people", "Read when it is needed.")
    await say(memoranda, zeta, "voice", "Short.")
    listed = await memoranda.load_meter.files(acme.owner)
    (segment,) = listed.load.segments
    loaded = [each for each in await reports(memoranda, acme) if each.loaded]
    assert [each.segment for each in loaded] == [segment, segment]
    assert [(each.used, each.included, each.skipped_chars, each.cap) for each in loaded] == [
        (each.used, each.included, each.skipped_chars, each.cap) for each in segment.files
    ]
    assert listed.load.total_tokens == sum(each.included for each in loaded)
    assert listed.load.total_cap == segment.cap == 1_500
    assert segment.skipped_chars > 0
    other = await memoranda.load_meter.files(zeta.owner)
    assert other.load.total_tokens == 2


async def test_an_agents_list_says_what_a_whole_report_says_of_the_same_segments(
    memoranda: Memoranda, acme: Tenant, zeta: Tenant
) -> None:
    for name in AgentFile:
        await say(memoranda, acme, name, f"{name}: " + LINE * 150, "scout")
    await say(memoranda, acme, "voice", "Not the agent's.")
    listed = await memoranda.load_meter.files(acme.owner, agent="scout")
    whole = await memoranda.load_meter.agent(acme.owner, "scout")
    own = set(SEGMENT_OF.values())
    assert listed.load.segments == [each for each in whole.load.segments if each.name in own]
    files = await reports(memoranda, acme, "scout")
    assert [each.segment for each in files if each.segment] == listed.load.segments
    assert [each.name for each in files if not each.segment] == [AgentFile.MANIFEST]
    assert listed.load.total_tokens == sum(each.included for each in listed.load.segments)
    assert listed.load.files == [each for each in whole.load.files if each.of_agent]
    empty = await memoranda.load_meter.files(zeta.owner, agent="scout")
    assert {each.skipped_chars for each in empty.load.segments} == {0}


async def test_the_list_itself_is_the_one_that_files_answer(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await memoranda.files.set_load_mode(acme.owner, "voice", LoadMode.ON_DEMAND)
    for agent in (None, "scout"):
        plain = await memoranda.files.listed(acme.owner, agent=agent)
        listed = await memoranda.load_meter.files(acme.owner, agent=agent)
        assert dict(listed) == {**dict(plain), "load": listed.load}
        measured = {each.name: each.hash for each in listed.load.files}
        assert measured.items() <= {each.name: each.hash for each in plain.items}.items()


async def test_who_may_not_see_the_files_does_not_see_what_they_cost(
    memoranda: Memoranda, acme: Tenant, zeta: Tenant
) -> None:
    scout = acme.key_of(acme.scout)
    assert (await memoranda.load_meter.files(scout, agent="scout")).items
    assert isinstance(await memoranda.load_meter.files(acme.reader), ListedFiles)
    with pytest.raises(NotYourFile):
        await memoranda.load_meter.files(scout, agent=acme.clerk.id)
    with pytest.raises(NotFound):
        await memoranda.load_meter.files(zeta.owner, agent=acme.clerk.id)


async def test_a_list_costs_one_report_whatever_its_files_say(
    memoranda: Memoranda, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cost(*, agent: str | None, whole: bool) -> int:
        reads.clear()
        if whole:
            await memoranda.load_meter.files(acme.owner, agent=agent)
        else:
            await memoranda.load_meter.file(acme.owner, "TOOLS.md", agent=agent)
        return len(reads)

    reads: list[object] = []
    read = Storage.read
    await memoranda.load_meter.files(acme.owner, agent="scout")
    await memoranda.load_meter.files(acme.owner)

    async def counted(self: Storage, *given: object, **more: object) -> object:
        reads.append(given)
        return await read(self, *given, **more)

    monkeypatch.setattr(Storage, "read", counted)
    one = await cost(agent="scout", whole=False)
    assert await cost(agent="scout", whole=True) <= one
    assert await cost(agent=None, whole=True) == 2
