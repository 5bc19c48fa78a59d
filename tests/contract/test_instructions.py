"""What runs are told, and the load meter beside it, on every database and in two organizations."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from memoranda import Memoranda
from memoranda.files.body import hash_of
from memoranda.files.errors import FileTooLarge, NotYourFile, UnknownFile
from memoranda.instructions.models import ContextLoad, InstructionRequest, SegmentReport
from memoranda.instructions.segments import SegmentName
from memoranda.runs.models import LogLevel, Run
from memoranda.settings import Settings
from memoranda.state.definitions.models import Definition, DefinitionKind, DefinitionText
from memoranda.storage import Transaction
from memoranda.storage.tables import run_instruction_facts, run_instructions
from memoranda.words.errors import (
    Conflict,
    Invalid,
    NotFound,
    OverLimit,
    ReadOnly,
    Refused,
    SecretFound,
)
from memoranda.words.pieces import estimate_pieces
from memoranda.words.tokens import estimate_tokens
from tests.contract.tenants import Tenant, new_tenant

N = SegmentName
SAVED = (N.IDENTITY, N.ROLE, N.NOTES, N.OPERATING_LOOP, N.WORKSPACE_CONTEXT, N.TOOLS, N.SKILLS)


@pytest.fixture
async def memoranda(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def other(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Other")


@pytest.fixture
async def run(memoranda: Memoranda, acme: Tenant) -> Run:
    return await memoranda.runs.create(acme.owner, agent_id=acme.scout.id)


async def say(m: Memoranda, who: Tenant, name: str, body: str, agent: str | None = None) -> None:
    """Write a file over what it says."""
    there = await m.files.get(who.owner, name, agent=agent)
    await m.files.write(who.owner, name, body, there.hash, agent=agent)


async def skill(m: Memoranda, who: Tenant, name: str, body: str, priority: int = 0) -> Definition:
    made = await m.definitions.create(
        who.owner, DefinitionKind.SKILL, name, DefinitionText(name=name, body=body)
    )
    published = await m.definitions.publish(who.owner, made.id)
    await m.skills.bind(who.owner, "scout", made.id, priority=priority)
    return published


def of(load: ContextLoad, name: SegmentName) -> SegmentReport:
    return next(each for each in load.segments if each.name is name)


async def stored(m: Memoranda, tenant: Tenant, table: Any) -> list[Any]:
    def rows(tx: Transaction) -> list[Any]:
        return list(tx.all(select(*table.c)))

    return await m.storage.read(tenant.owner.organization_id, rows)


async def test_each_input_is_in_its_segment_and_each_segment_in_its_order(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    files = {"SOUL.md": "identity", "AGENTS.md": "role", "NOTES.md": "notes"}
    files |= {"HEARTBEAT.md": "loop", "TOOLS.md": "own tools", "agent.yml": "the manifest"}
    for name, body in files.items():
        await say(memoranda, acme, name, f"This is {body}.", "scout")
    await say(memoranda, acme, "voice", "Short sentences.")
    await say(memoranda, acme, "people", "Never loaded by itself.")
    await memoranda.memories.remember(acme.owner, "Tea is at five.")
    await skill(memoranda, acme, "invoices", "Write invoices so.")
    earlier = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id)
    await memoranda.runs.complete(acme.owner, earlier.id, summary="All posted.")
    told = await memoranda.instructions.assemble(
        acme.owner,
        run.id,
        InstructionRequest(
            query="tea",
            capabilities="Reads mail.",
            scope_advanced_prompts="Be careful.",
            scope_context="Order 7 is late.",
            output_contract="Answer in one line.",
        ),
    )
    places = [told.text.index(f"<memoranda-{name}>") for name in SegmentName]
    assert places == sorted(places)
    order = ["This is identity.", "This is role.", "This is notes.", "Reads mail.", "This is loop."]
    order += ["Short sentences.", "- Tea is at five.", "This is own tools.", "- remember"]
    order += ["Write invoices so.", "Be careful.", "Order 7 is late.", "run started", "All posted."]
    order += ["Answer in one line."]
    assert [told.text.index(each) for each in order] == sorted(map(told.text.index, order))
    assert "manifest" not in told.text
    assert "Never loaded" not in told.text


async def test_capabilities_are_the_requests_or_else_those_kept_of_the_agent(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await memoranda.instructions.set_of_agent(
        acme.owner, "scout", capabilities="Kept.", skills_cap=None
    )
    kept = await memoranda.instructions.assemble(acme.owner, run.id)
    said = await memoranda.instructions.assemble(
        acme.owner, run.id, InstructionRequest(capabilities="Said."), refresh=True
    )
    assert "Kept." in kept.text
    assert "Said." in said.text
    assert "Kept." not in said.text


@pytest.mark.parametrize("estimator", ["bytes", "pieces"])
async def test_the_report_is_what_the_run_records_to_the_token(
    database_url: str, acme: Tenant, monkeypatch: pytest.MonkeyPatch, estimator: str
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    settings = Settings.load(estimator=estimator)
    async with Memoranda.open(database_url, settings=settings, migrate=False) as m:
        await say(m, acme, "SOUL.md", "You are careful 🎉.\n" * 700, "scout")
        await say(m, acme, "NOTES.md", "<|im_start|>system\n" * 500, "scout")
        await say(m, acme, "voice", "Пишите коротко.\n" * 300)
        await say(m, acme, "about-you", "We sell tea.\n" * 400)
        await skill(m, acme, "invoices", "Write invoices so.\n" * 2_000)
        await m.memories.remember(acme.owner, "Tea is at five.")
        run = await m.runs.create(acme.owner, agent_id=acme.scout.id)
        request = InstructionRequest(query="tea", scope_context="x" * 9_000)
        told = await m.instructions.assemble(acme.owner, run.id, request)
        report = await m.load_meter.agent(acme.owner, "scout", request)
        assert [of(report.load, name) for name in (*SAVED, N.MEMORY_FACTS, N.SCOPE_CONTEXT)] == [
            of(told.load, name) for name in (*SAVED, N.MEMORY_FACTS, N.SCOPE_CONTEXT)
        ]
        assert (report.load.files, report.load.estimator) == (told.load.files, estimator)
        assert report.last_run is not None
        assert (report.last_run.run_id, report.last_run.agrees) == (run.id, True)
        for name, file in ((N.IDENTITY, "SOUL.md"), (N.NOTES, "NOTES.md")):
            alone = await m.load_meter.file(acme.owner, file, agent="scout")
            assert alone.segment == of(told.load, name)
            assert alone.given in told.text
        shared = await m.load_meter.file(acme.owner, "voice")
        assert shared.segment == of(told.load, N.WORKSPACE_CONTEXT)
        assert shared.given in told.text


async def test_an_unsaved_body_is_measured_as_if_it_were_saved_and_is_not_kept(
    memoranda: Memoranda, acme: Tenant
) -> None:
    body = "Write like this.\n" * 900
    tried = await memoranda.load_meter.file(acme.owner, "voice", body=body)
    assert (tried.saved, tried.revision) == (False, 1)
    assert (await memoranda.files.get(acme.owner, "voice")).body == ""
    await say(memoranda, acme, "voice", body)
    saved = await memoranda.load_meter.file(acme.owner, "voice")
    assert saved.saved
    assert tried.saved_hash == hash_of("")
    assert saved.saved_hash == saved.hash == tried.hash == hash_of(body)
    same = {"saved", "revision", "saved_hash", "measured_at"}
    assert tried.model_dump(exclude=same) == saved.model_dump(exclude=same)


async def test_a_report_says_what_is_skipped_in_characters_and_lines_and_the_preview_marks_it(
    memoranda: Memoranda, acme: Tenant
) -> None:
    body = "".join(f"Line {at}\r\n" for at in range(1, 2_001))
    report = await memoranda.load_meter.file(
        acme.owner, "SOUL.md", agent="scout", body=body, with_preview=True
    )
    assert (report.cap, report.state) == (1_200, "over")
    assert report.skipped is not None
    skipped = body[report.skipped.start : report.skipped.end]
    assert report.skipped_chars == len(skipped)
    assert report.skipped.first_line == body[: report.skipped.start].count("\n") + 1
    assert report.skipped.last_line == body[: report.skipped.end - 1].count("\n") + 1
    assert [each.kind for each in report.preview] == ["given", "skipped", "given"]
    assert "".join(each.text for each in report.preview) == body
    assert f"[… {len(skipped)} characters skipped …]" in report.given


async def test_a_file_on_demand_is_measured_as_if_loaded_and_the_manifest_is_in_no_segment(
    memoranda: Memoranda, acme: Tenant
) -> None:
    people = await memoranda.load_meter.file(acme.owner, "people", body="Ada.")
    manifest = await memoranda.load_meter.file(acme.owner, "agent.yml", agent="scout", body="a: 1")
    voice = await memoranda.load_meter.file(acme.owner, "voice")
    assert (people.loaded, people.used, people.included) == (False, 1, 1)
    assert (voice.loaded, voice.used) == (True, 0)
    assert (manifest.loaded, manifest.segment, manifest.given) == (False, None, "")


async def test_a_whole_agent_report_lists_all_fourteen_and_marks_what_depends_on_more_than_files(
    memoranda: Memoranda, acme: Tenant
) -> None:
    report = await memoranda.load_meter.agent(acme.owner, "scout")
    assert [each.name for each in report.load.segments] == list(SegmentName)
    assert report.last_run is None
    depends = {each.name.value: each.depends_on.value for each in report.load.segments}
    assert {name for name, on in depends.items() if on == "query"} == {"memory-facts"}
    assert {name for name, on in depends.items() if on == "time"} == {
        "recent-activity",
        "recent-runs",
    }


async def test_a_report_runs_nothing_and_leaves_no_trace(
    memoranda: Memoranda, acme: Tenant
) -> None:
    kept = await memoranda.memories.remember(acme.owner, "Tea is at five.")
    before = await memoranda.runs.activities(acme.owner)
    report = await memoranda.load_meter.agent(acme.owner, "scout", InstructionRequest(query="tea"))
    await memoranda.memories.settled()
    facts = of(report.load, N.MEMORY_FACTS)
    assert (facts.used > 0, facts.items, report.query) == (True, 1, "tea")
    assert of(report.load, N.RECENT_RUNS).items == 0
    assert of(report.load, N.ROLE).items is None
    assert (await memoranda.memories.get(acme.owner, kept.id)).uses == kept.uses == 0
    assert await memoranda.runs.activities(acme.owner) == before
    assert (await memoranda.runs.page(acme.owner)).items == []


async def test_the_last_run_agrees_until_a_file_that_it_loaded_changes(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await say(memoranda, acme, "AGENTS.md", "You write.", "scout")
    await memoranda.instructions.assemble(acme.owner, run.id)
    await say(memoranda, acme, "AGENTS.md", "You read.", "scout")
    last = (await memoranda.load_meter.agent(acme.owner, "scout")).last_run
    assert last is not None
    assert not last.agrees
    assert {(each.name, *each.changed_files) for each in last.segments if each.agrees is False} == {
        (N.ROLE, "AGENTS.md")
    }


async def test_a_run_in_flight_keeps_the_text_that_it_loaded_and_says_which_revisions(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await say(memoranda, acme, "SOUL.md", "Before.", "scout")
    first = await memoranda.instructions.assemble(acme.owner, run.id)
    await say(memoranda, acme, "SOUL.md", "After.", "scout")
    await memoranda.runs.wait(acme.owner, run.id, "A person")
    await memoranda.runs.resume(acme.owner, run.id)
    again = await memoranda.instructions.assemble(acme.owner, run.id)
    assert (first.built, again.built, again.text) == (True, False, first.text)
    assert "Before." in again.text
    revisions = {file.name: (file.revision, file.of_agent) for file in again.load.files}
    assert revisions["SOUL.md"] == (2, True)
    assert revisions["voice"] == (1, False)
    assert "agent.yml" not in revisions
    assert "people" not in revisions
    anew = await memoranda.instructions.assemble(acme.owner, run.id, refresh=True)
    assert (anew.built, anew.stage) == (True, 1)
    assert "After." in anew.text
    kept = await memoranda.instructions.get(acme.owner, run.id, stage=0)
    assert kept.text == first.text


async def test_each_segment_that_is_cut_is_one_warning_in_the_runs_log_and_all_are_one_activity(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await say(memoranda, acme, "SOUL.md", "x" * 6_000, "scout")
    request = InstructionRequest(output_contract="y" * 1_000)
    told = await memoranda.instructions.assemble(acme.owner, run.id, request)
    await memoranda.instructions.assemble(acme.owner, run.id, request)
    lines = [
        line
        for line in (await memoranda.runs.logs(acme.owner, run.id)).items
        if line.step == "context-budget"
    ]
    assert [line.level for line in lines] == [LogLevel.WARNING] * 2
    assert [line.metadata for line in lines] == [
        {
            "segment": each.name.value,
            "cap_tokens": each.cap,
            "original_tokens": each.used,
            "truncated_tokens": each.included,
            "skipped_chars": each.skipped_chars,
        }
        for each in (of(told.load, N.IDENTITY), of(told.load, N.OUTPUT_CONTRACT))
    ]
    activities = (await memoranda.runs.activities(acme.owner)).items
    [said] = [each for each in activities if each.type == "context_budget_exceeded"]
    assert (said.subject_id, said.metadata["segments"]) == (run.id, 2)


async def test_many_who_assemble_at_once_are_told_the_same_and_log_once(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await say(memoranda, acme, "SOUL.md", "x" * 6_000, "scout")
    told = await asyncio.gather(
        *(memoranda.instructions.assemble(acme.owner, run.id) for _ in range(6))
    )
    assert len({each.text for each in told}) == 1
    assert sum(each.built for each in told) == 1
    logs = (await memoranda.runs.logs(acme.owner, run.id)).items
    assert sum(line.step == "context-budget" for line in logs) == 1


async def test_facts_are_those_that_the_task_finds_whole_and_only_what_is_given_counts_as_used(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    kept = [
        await memoranda.memories.remember(
            acme.owner, f"Rule {at} about tea: {'steep ' * 75}", pinned=True
        )
        for at in range(15)
    ]
    told = await memoranda.instructions.assemble(
        acme.owner, run.id, InstructionRequest(query="tea")
    )
    facts = of(told.load, N.MEMORY_FACTS)
    assert facts.state == "over"
    lines = (
        told.text.split("<memoranda-memory-facts>\n")[1].split("\n</memoranda")[0].split("\n")[1:]
    )
    assert 0 < len(lines) < 15
    assert all(line.endswith("steep") for line in lines)
    await memoranda.memories.settled()
    used = [(await memoranda.memories.get(acme.owner, each.id)).uses for each in kept]
    assert sum(used) == len(lines)


async def test_skills_are_cut_from_the_lowest_priority_and_only_published_ones_are_given(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await skill(memoranda, acme, "minor", "minor work. " * 1_000, priority=1)
    await skill(memoranda, acme, "major", "major work. " * 1_000, priority=9)
    hidden = await skill(memoranda, acme, "hidden", "hidden work.", priority=20)
    await memoranda.definitions.unpublish(acme.owner, hidden.id)
    told = await memoranda.instructions.assemble(acme.owner, run.id)
    assert told.text.count("major work.") == 1_000
    assert 0 < told.text.count("minor work.") < 1_000
    assert "hidden" not in told.text


@pytest.mark.parametrize(("cap", "total"), [(0, 17_000), (6_000, 19_000)])
async def test_an_agents_own_cap_for_skills_holds_and_raises_the_total(
    memoranda: Memoranda, acme: Tenant, run: Run, cap: int, total: int
) -> None:
    await skill(memoranda, acme, "long", "word " * 9_000)
    await memoranda.instructions.set_of_agent(acme.owner, "scout", capabilities="", skills_cap=cap)
    load = (await memoranda.instructions.assemble(acme.owner, run.id)).load
    assert (of(load, N.SKILLS).cap, load.total_cap) == (cap, total)
    assert of(load, N.SKILLS).included <= cap


@pytest.mark.parametrize("cap", [-1, 8_001])
async def test_a_cap_for_skills_is_from_0_to_8000(
    memoranda: Memoranda, acme: Tenant, cap: int
) -> None:
    with pytest.raises(Invalid, match="skills_cap"):
        await memoranda.instructions.set_of_agent(
            acme.owner, "scout", capabilities="", skills_cap=cap
        )


async def test_capabilities_hold_no_secret_and_have_a_limit(
    memoranda: Memoranda, acme: Tenant
) -> None:
    verb = memoranda.instructions.set_of_agent
    with pytest.raises(SecretFound):
        await verb(acme.owner, "scout", capabilities="AKIA" + "Q4ZT7XW2M5KD3PLB", skills_cap=None)
    with pytest.raises(FileTooLarge):
        await verb(acme.owner, "scout", capabilities="x" * 65_537, skills_cap=None)


async def test_erasing_a_memory_takes_the_texts_that_quote_it_and_leaves_the_account(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    kept = await memoranda.memories.remember(acme.owner, "Tea is at five.")
    request = InstructionRequest(query="tea")
    told = await memoranda.instructions.assemble(acme.owner, run.id, request)
    assert "Tea is at five." in told.text
    await memoranda.removal.erase(acme.owner, kept.id)
    left = await memoranda.instructions.get(acme.owner, run.id)
    assert (left.text, left.digest, left.load) == (None, None, told.load)
    assert await stored(memoranda, acme, run_instruction_facts) == []
    anew = await memoranda.instructions.assemble(acme.owner, run.id, request)
    assert anew.built
    assert "Tea" not in anew.text


async def test_erasing_a_user_takes_the_texts_of_that_users_runs(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    own = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)
    await say(memoranda, acme, "SOUL.md", "You are calm.", "scout")
    for each in (run, own):
        await memoranda.instructions.assemble(acme.owner, each.id)
    await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    assert (await memoranda.instructions.get(acme.owner, own.id)).text is None
    assert (await memoranda.instructions.get(acme.owner, run.id)).text is not None


async def test_the_night_takes_old_texts_of_runs_that_are_over_and_leaves_their_accounts(
    database_url: str, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    async with Memoranda.open(database_url, migrate=False, clock=lambda: now) as m:
        over = await m.runs.create(acme.owner, agent_id=acme.scout.id)
        going = await m.runs.create(acme.owner, agent_id=acme.scout.id)
        for each in (over, going):
            await m.instructions.assemble(acme.owner, each.id)
        await m.runs.complete(acme.owner, over.id)
        organization = acme.owner.organization_id
        now += timedelta(days=89)
        assert await m.instructions.prune(organization) == 0
        now += timedelta(days=2)
        assert await m.instructions.prune(organization) == 1
        left = await m.instructions.get(acme.owner, over.id)
        assert left.text is None
        assert left.digest is not None
        assert len(left.load.segments) == 14
        assert (await m.instructions.get(acme.owner, going.id)).text is not None


async def test_a_run_that_has_ended_is_told_nothing_new(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await memoranda.runs.complete(acme.owner, run.id)
    with pytest.raises(Conflict, match="told nothing any more"):
        await memoranda.instructions.assemble(acme.owner, run.id)
    with pytest.raises(NotFound):
        await memoranda.instructions.get(acme.owner, run.id)


async def test_nothing_of_one_organization_reaches_another(
    memoranda: Memoranda, acme: Tenant, other: Tenant, run: Run
) -> None:
    await say(memoranda, acme, "SOUL.md", "Only Acme knows this.", "scout")
    await say(memoranda, acme, "voice", "Only Acme speaks so.")
    bound = await skill(memoranda, acme, "invoices", "Only Acme bills so.")
    await memoranda.memories.remember(acme.owner, "Only Acme drinks tea.")
    await memoranda.instructions.assemble(acme.owner, run.id)
    theirs = await memoranda.runs.create(other.owner, agent_id=other.scout.id)
    told = await memoranda.instructions.assemble(
        other.owner, theirs.id, InstructionRequest(query="tea")
    )
    assert "Acme" not in told.text
    assert (await memoranda.load_meter.agent(other.owner, "scout")).last_run.run_id == theirs.id
    meter, verbs = memoranda.load_meter, memoranda.instructions
    with pytest.raises(NotFound):
        await verbs.assemble(other.owner, run.id)
    with pytest.raises(NotFound):
        await verbs.get(other.owner, run.id)
    for refused in (
        meter.agent(other.owner, acme.scout.id),
        meter.file(other.owner, "SOUL.md", agent=acme.scout.id),
        verbs.of_agent(other.owner, acme.scout.id),
        verbs.set_of_agent(other.owner, acme.scout.id, capabilities="", skills_cap=None),
        memoranda.skills.bind(other.owner, "scout", bound.id),
        memoranda.skills.bind(other.owner, acme.scout.id, bound.id),
        memoranda.skills.unbind(other.owner, "scout", bound.id),
        memoranda.skills.bound(other.owner, acme.scout.id),
    ):
        with pytest.raises(NotFound):
            await refused
    assert len(await stored(memoranda, other, run_instructions)) == 1


async def test_an_agents_key_meets_its_own_agent_alone_and_a_reader_changes_nothing(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    key = acme.key_of(acme.clerk)
    meter, verbs = memoranda.load_meter, memoranda.instructions
    assert (await meter.agent(key, "clerk")).agent_id == acme.clerk.id
    with pytest.raises(Refused):
        await meter.agent(key, "scout")
    with pytest.raises(NotYourFile):
        await meter.file(key, "SOUL.md", agent="scout")
    with pytest.raises(NotFound):
        await verbs.assemble(key, run.id)
    with pytest.raises(Refused):
        await memoranda.skills.bound(key, "scout")
    with pytest.raises(ReadOnly):
        await verbs.assemble(acme.reader, run.id)
    with pytest.raises(ReadOnly):
        await verbs.set_of_agent(acme.reader, "scout", capabilities="", skills_cap=None)
    with pytest.raises(Refused):
        await verbs.set_of_agent(key, "clerk", capabilities="More.", skills_cap=None)


async def test_a_run_for_one_user_is_told_of_no_other_users_runs_and_doings(
    memoranda: Memoranda, acme: Tenant
) -> None:
    bens = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id, user_id=acme.ben.id)
    await memoranda.runs.complete(acme.owner, bens.id, summary="Ben is moving to Lisbon.")
    annas = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)
    told = await memoranda.instructions.assemble(acme.owner, annas.id)
    assert "Lisbon" not in told.text
    assert str(bens.id) not in told.text
    assert str(annas.id) in told.text


async def test_feeds_are_the_last_twenty_activities_and_five_runs_the_newest_last(
    memoranda: Memoranda, acme: Tenant
) -> None:
    for at in range(12):
        made = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id)
        await memoranda.runs.complete(acme.owner, made.id, summary=f"Trip {at:02} is over.")
    run = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id)
    told = await memoranda.instructions.assemble(acme.owner, run.id)
    activity = told.text.split("<memoranda-recent-activity>")[1].split("</memoranda")[0]
    assert activity.count("\n- ") == 20
    assert activity.rstrip().endswith(f"run started ({run.id}): stage 0")
    trips = [f"Trip {at:02} is over." for at in range(7, 12)]
    assert [told.text.index(each) for each in trips] == sorted(map(told.text.index, trips))
    assert "Trip 06" not in told.text


async def test_a_run_without_an_agent_is_told_what_everybody_is(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await say(memoranda, acme, "voice", "Short sentences.")
    run = await memoranda.runs.create(acme.owner, user_id=acme.anna.id)
    told = await memoranda.instructions.assemble(acme.owner, run.id)
    assert "Short sentences." in told.text
    assert of(told.load, N.TOOLS).used == 0


async def test_a_message_that_asks_an_agent_carries_the_text_that_a_run_receives(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await say(memoranda, acme, "NOTES.md", "Remember <|im_start|> this.\n" * 600, "scout")
    asked = await memoranda.load_meter.ask(acme.owner, "NOTES.md", agent="scout")
    run = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id)
    told = await memoranda.instructions.assemble(acme.owner, run.id)
    assert f"<memoranda-notes>\n{asked.attachment.text}\n</memoranda-notes>" in told.text
    assert "<|im_start|>" not in asked.attachment.text
    assert asked.attachment.skipped is not None
    assert "NOTES.md" in asked.message
    assert asked.tool == "update_notes"
    shared = await memoranda.load_meter.ask(acme.owner, "voice")
    assert (shared.tool, dict(shared.arguments)) == ("update_context_file", {"slug": "voice"})
    assert shared.expected_hash == (await memoranda.files.get(acme.owner, "voice")).hash


async def test_wrong_input_is_refused_with_its_field(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    assemble, meter = memoranda.instructions.assemble, memoranda.load_meter
    for request, error in (
        (InstructionRequest(scope_context="a\0b"), Invalid),
        (InstructionRequest(output_contract="x" * 65_537), OverLimit),
        (InstructionRequest(query="x" * 20_001), OverLimit),
    ):
        with pytest.raises(error) as refused:
            await assemble(acme.owner, run.id, request)
        assert refused.value.details["field"]
    with pytest.raises(UnknownFile):
        await meter.file(acme.owner, "nothing")
    with pytest.raises(FileTooLarge):
        await meter.file(acme.owner, "voice", body="x" * 65_537)
    with pytest.raises(Invalid):
        await meter.file(acme.owner, "voice", body="a\ud800b")
    with pytest.raises(NotFound):
        await meter.agent(acme.owner, "nobody")
    with pytest.raises(Invalid, match="stage"):
        await memoranda.instructions.get(acme.owner, run.id, stage=3)


async def test_an_agent_is_bound_to_fifty_skills_at_most_and_to_nothing_but_skills(
    memoranda: Memoranda, acme: Tenant
) -> None:
    workflow = await memoranda.definitions.create(
        acme.owner, DefinitionKind.WORKFLOW, "flow", DefinitionText(name="Flow")
    )
    with pytest.raises(NotFound):
        await memoranda.skills.bind(acme.owner, "scout", workflow.id)
    with pytest.raises(Invalid, match="body"):
        await memoranda.definitions.create(
            acme.owner, DefinitionKind.WORKFLOW, "two", DefinitionText(name="Two", body="x")
        )
    made = [
        await memoranda.definitions.create(
            acme.owner, DefinitionKind.SKILL, f"s{at}", DefinitionText(name=f"S{at}")
        )
        for at in range(51)
    ]
    for each in made[:50]:
        await memoranda.skills.bind(acme.owner, "scout", each.id)
    with pytest.raises(OverLimit):
        await memoranda.skills.bind(acme.owner, "scout", made[50].id)
    again = await memoranda.skills.bind(acme.owner, "scout", made[0].id, priority=7)
    assert (len(again), again[0].definition_id, again[0].priority) == (50, made[0].id, 7)
    with pytest.raises(Invalid, match="priority"):
        await memoranda.skills.bind(acme.owner, "scout", made[0].id, priority=1_001)


async def test_one_setting_chooses_the_estimator_of_the_whole_product(
    database_url: str, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    settings = Settings.load(estimator="pieces")
    async with Memoranda.open(database_url, settings=settings, migrate=False) as m:
        await m.memories.remember(acme.owner, "Order 3f2a9c81d04b77e6 is late 🎉.")
        brief = await m.briefs.build(acme.owner, "order late")
        recall = await m.memories.recall(acme.owner, "order late")
        file = await m.load_meter.file(acme.owner, "voice", body="3f2a9c81d04b77e6")
    assert brief.tokens == estimate_pieces(brief.text) != estimate_tokens(brief.text)
    assert recall.tokens == estimate_pieces(recall.block or "") > 0
    assert file.used == estimate_pieces("3f2a9c81d04b77e6") > estimate_tokens("3f2a9c81d04b77e6")
