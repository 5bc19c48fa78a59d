"""The tools by which an agent sees how much of what it writes, and of what it is told, arrives."""

from collections.abc import AsyncIterator

import pytest

from memoranda import Memoranda
from memoranda.access.models import Principal
from memoranda.files.body import hash_of
from memoranda.instructions.models import InstructionRequest
from memoranda.tools.models import Decision, ToolResult
from tests.contract.copied_rows import rows_of
from tests.contract.file_house import written
from tests.contract.tenants import Tenant, new_tenant

FILE, AGENT = "get_file_load", "get_context_load"
LONG = "".join(f"Rule {at}: keep it short.\n" for at in range(1_500))


@pytest.fixture
async def memoranda(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


async def call(m: Memoranda, who: Principal, tool: str, **arguments: object) -> ToolResult:
    return await m.tools.call(who, tool, arguments)


async def test_the_report_of_a_file_is_the_load_meters(memoranda: Memoranda, acme: Tenant) -> None:
    saved = await written(memoranda.files, acme.owner, "voice", LONG)
    agent = acme.key_of(acme.scout)
    await written(memoranda.files, agent, "NOTES.md", "Ask Ada.", agent=acme.scout.id)
    for who, name, own in ((agent, "voice", None), (agent, "NOTES.md", acme.scout.id)):
        report = await memoranda.load_meter.file(who, name, agent=own)
        answer = (await call(memoranda, who, FILE, slug=name)).answer
        assert answer is not None
        for field in ("state", "used", "cap", "included", "loaded", "saved_hash"):
            assert answer[field] == getattr(report, field)
        assert (answer["slug"], answer["measured"]) == (name, "saved")
    told = (await call(memoranda, acme.owner, FILE, slug="voice")).answer
    assert told is not None
    report = await memoranda.load_meter.file(acme.owner, "voice")
    assert report.skipped is not None
    assert (told["state"], told["saved_hash"]) == ("over", saved.hash)
    assert told["skipped"] == {
        "first_line": report.skipped.first_line,
        "last_line": report.skipped.last_line,
        "characters": report.skipped_chars,
    }
    assert "Rule" not in str(told)


async def test_a_body_is_measured_before_it_is_written_and_nothing_of_it_is_kept(
    memoranda: Memoranda, acme: Tenant
) -> None:
    agent = acme.key_of(acme.scout)
    saved = await memoranda.files.get(agent, "NOTES.md", agent=acme.scout.id)
    body = LONG.replace("Rule", "Marmalade")
    result = await call(memoranda, agent, FILE, slug="NOTES.md", body=body)
    assert result.answer is not None
    assert (result.answer["measured"], result.answer["state"]) == ("body", "over")
    assert result.answer["saved_hash"] == saved.hash != hash_of(body)
    await memoranda.tools.settled()
    rows = await memoranda.storage.read(acme.owner.organization_id, rows_of)
    assert "Marmalade" not in str(rows) + result.model_dump_json()
    too_large = await call(memoranda, agent, FILE, slug="NOTES.md", body="x" * 65_537)
    assert too_large.refusal is not None
    assert too_large.refusal.code == "file_too_large"


async def test_an_agent_is_told_its_own_segments_and_nobody_else_is_offered_that(
    memoranda: Memoranda, acme: Tenant
) -> None:
    agent = acme.key_of(acme.scout)
    await memoranda.memories.remember(acme.owner, "Ada takes milk.", pinned=True)
    meter = await memoranda.load_meter.agent(agent, "scout", InstructionRequest(query="milk"))
    answer = (await call(memoranda, agent, AGENT, query="milk")).answer
    assert answer is not None
    assert (answer["total"], answer["cap"]) == (meter.load.total_tokens, 17_000)
    assert [
        (each["name"], each["used"], each["included"], each["state"]) for each in answer["segments"]
    ] == [(each.name, each.used, each.included, each.state) for each in meter.load.segments]
    assert len(answer["segments"]) == 14
    assert "Ada" not in str(answer)
    for who in (acme.owner, acme.member(acme.anna), acme.reader):
        assert AGENT not in {offer.name for offer in await memoranda.tools.offers(who)}
        refused = (await call(memoranda, who, AGENT)).refusal
        assert refused is not None
        assert refused.code == "refused"


async def test_only_files_that_the_caller_reads_are_measured(
    memoranda: Memoranda, acme: Tenant
) -> None:
    clerk, scout = acme.key_of(acme.clerk), acme.key_of(acme.scout)
    other = await new_tenant(memoranda.storage, "Other")
    await written(memoranda.files, scout, "NOTES.md", LONG, agent=acme.scout.id)
    await written(memoranda.files, other.owner, "people", LONG)
    for who, slug in ((clerk, "NOTES.md"), (clerk, "people"), (acme.owner, "people")):
        answer = (await call(memoranda, who, FILE, slug=slug)).answer
        assert answer is not None
        assert answer["used"] == 0
    for who in (acme.owner, acme.member(acme.anna), acme.reader):
        refused = (await call(memoranda, who, FILE, slug="NOTES.md")).refusal
        assert refused is not None
        assert refused.code == "unknown_file"
    for slug in ("voice.md", "", "../voice", "scout/NOTES.md", "VOICE"):
        refused = (await call(memoranda, scout, FILE, slug=slug)).refusal
        assert refused is not None
        assert refused.code == "unknown_file"


async def test_a_policy_may_deny_them(memoranda: Memoranda, acme: Tenant) -> None:
    agent = acme.key_of(acme.scout)
    for tool, arguments in ((FILE, {"slug": "voice"}), (AGENT, {})):
        await memoranda.tools.policies.set(acme.owner, "scout", tool, Decision.DENY)
        refused = (await call(memoranda, agent, tool, **arguments)).refusal
        assert refused is not None
        assert refused.code == "tool_denied"
        assert tool not in {offer.name for offer in await memoranda.tools.offers(agent)}
