"""No way into memory takes a credential in, and none repeats it."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memoranda import Memoranda
from memoranda.memories import candidate
from memoranda.tools import span
from memoranda.tools.models import Decision
from memoranda.words.errors import DuplicateMemory, SecretFound
from memoranda.words.ref import ResourceRef
from tests.contract.copied_rows import rows_of
from tests.contract.tenants import Tenant, new_tenant
from tests.words.innocent_texts import innocent_texts
from tests.words.made_secrets import Made, made_secrets

SECRETS = list(made_secrets())
SECRET = next(each for each in SECRETS if each.kind == "github_token")
SHORT = next(each for each in SECRETS if each.kind == "aws_access_key")
SAID = f"Deploy with {SECRET.value}."


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


def part(made: Made) -> str:
    return made.value[-14:]


async def everything_kept(memoranda: Memoranda, acme: Tenant) -> str:
    await memoranda.tools.settled()
    return str(await memoranda.storage.read(acme.owner.organization_id, rows_of))


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("text", {"text": SAID}),
        ("title", {"text": "Deploys.", "title": SAID}),
        ("category", {"text": "Deploys.", "category": SHORT.value}),
        ("tags.1", {"text": "Deploys.", "tags": ["work", SHORT.value]}),
        ("attribute", {"text": "Deploys.", "attribute": f"preference.{SHORT.value}"}),
        ("about.id", {"text": "Deploys.", "about": ResourceRef(kind="crm.deal", id=SHORT.value)}),
        (
            "about.label",
            {"text": "Deploys.", "about": ResourceRef(kind="crm.deal", id="7", label=SAID)},
        ),
    ],
)
async def test_what_is_remembered_or_proposed_holds_no_credential(
    memoranda: Memoranda, acme: Tenant, field: str, given: dict[str, object]
) -> None:
    made = SECRET if SECRET.value in str(given) else SHORT
    for verb in (memoranda.memories.remember, memoranda.proposals.propose):
        with pytest.raises(SecretFound) as refused:
            await verb(acme.owner, **given)
        assert refused.value.details == {"field": field, "secret": made.kind, "line": 1}
        assert part(made) not in str(refused.value)
    assert not (await memoranda.memories.page(acme.owner)).items
    assert not (await memoranda.proposals.page(acme.owner)).items


@pytest.mark.parametrize("field", ["text", "title", "category", "tags"])
async def test_no_change_of_a_memory_brings_one_in(
    memoranda: Memoranda, acme: Tenant, field: str
) -> None:
    kept = await memoranda.memories.remember(acme.owner, "Deploys go out on Fridays.")
    said = SHORT.value if field in {"category", "tags"} else SAID
    with pytest.raises(SecretFound) as refused:
        await memoranda.memories.update(
            acme.owner, kept.id, **{field: [said] if field == "tags" else said}
        )
    assert str(refused.value.details["field"]).startswith(field)
    assert await memoranda.memories.get(acme.owner, kept.id) == kept


async def test_what_a_person_corrects_while_accepting_holds_none(
    memoranda: Memoranda, acme: Tenant
) -> None:
    proposed = await memoranda.proposals.propose(acme.owner, "Deploys go out on Fridays.")
    assert proposed.proposal is not None
    with pytest.raises(SecretFound):
        await memoranda.proposals.accept(acme.owner, proposed.proposal.id, text=SAID)
    assert [each.id for each in (await memoranda.proposals.page(acme.owner)).items] == [
        proposed.proposal.id
    ]


async def test_what_was_kept_before_comes_back_by_no_restore_and_no_accept(
    memoranda: Memoranda, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before_it_was_known:
        before_it_was_known.setattr(candidate, "check_no_secret", lambda *_: None)
        kept = await memoranda.memories.remember(acme.owner, SAID)
        await memoranda.memories.forget(acme.owner, kept.id)
        waits = (await memoranda.proposals.propose(acme.owner, f"{SAID} Always.")).proposal
        gone = (await memoranda.proposals.propose(acme.owner, f"{SAID} Never.")).proposal
    assert waits is not None
    assert gone is not None
    await memoranda.proposals.discard(acme.owner, gone.id)
    with pytest.raises(SecretFound):
        await memoranda.memories.restore(acme.owner, kept.id)
    with pytest.raises(SecretFound):
        await memoranda.proposals.accept(acme.owner, waits.id)
    with pytest.raises(SecretFound):
        await memoranda.proposals.restore(acme.owner, gone.id)
    accepted = await memoranda.proposals.accept(
        acme.owner, waits.id, text="The key is in the safe."
    )
    assert accepted.text == "The key is in the safe."


async def test_an_agents_tools_bring_none_in_whatever_its_policy_says(
    memoranda: Memoranda, acme: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    agent, remember = acme.key_of(acme.scout), {"content": SAID}
    kept = await memoranda.memories.remember(
        acme.owner, "Deploys go out on Fridays.", agent_id=acme.scout.id
    )
    change = {"memory_id": str(kept.id), "expected_version": 1, "patch": {"content": SAID}}
    with caplog.at_level(logging.DEBUG):
        for decision in (Decision.ALLOW, Decision.ASK):
            for tool, arguments in (("remember", remember), ("update", change)):
                await memoranda.tools.policies.set(acme.owner, acme.scout.id, tool, decision)
                result = await memoranda.tools.call(agent, tool, arguments, key=f"{tool}{decision}")
                assert result.refusal is not None, (tool, decision)
                assert (result.refusal.code, result.refusal.details["field"]) == (
                    "secret_found",
                    "text",
                )
                assert part(SECRET) not in result.model_dump_json()
    assert part(SECRET) not in await everything_kept(memoranda, acme)
    assert part(SECRET) not in caplog.text


async def test_an_import_leaves_out_the_rows_that_hold_one_and_takes_the_rest(
    memoranda: Memoranda, acme: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    long = f"{'Servers are named after rivers. ' * 14}{SECRET.value} is the key. {'More. ' * 40}"
    rows = [
        {"text": "Deploys go out on Fridays."},
        {"text": SAID},
        {"text": "Titled.", "title": f"{'x' * 190} {SECRET.value}"},
        {"text": "Tagged.", "tags": [SHORT.value]},
        {"text": "Of a row.", "about": {"kind": "crm.deal", "id": SHORT.value}},
        {"text": long},
        {"text": "Forgotten.", "status": "forgotten", "category": SHORT.value},
        {"text": "Invoices are in euros."},
    ]
    lines = [json.dumps({"format": "memoranda-memories", "version": 1})]
    lines += [json.dumps({"kind": "memory", **row}) for row in rows]
    lines.append(json.dumps({"kind": "proposal", "text": SAID}))
    with caplog.at_level(logging.DEBUG):
        for dry_run in (True, False):
            report = await memoranda.transfer.take_in(acme.owner, "\n".join(lines), dry_run=dry_run)
            assert (report.taken, report.refused) == (2, 7)
            assert report.reasons == {"secret_found": 7}
            assert [each.line for each in report.examples if each.code == "secret_found"]
            assert "looks like" in str(report)
            assert part(SECRET) not in report.model_dump_json()
            assert part(SHORT) not in report.model_dump_json()
    texts = {each.text for each in (await memoranda.memories.page(acme.owner)).items}
    assert texts == {"Deploys go out on Fridays.", "Invoices are in euros."}
    kept = await everything_kept(memoranda, acme)
    assert part(SECRET) not in kept + caplog.text
    assert SHORT.value not in kept + caplog.text


async def test_a_refused_credential_is_in_no_log_event_row_or_span(
    memoranda: Memoranda,
    acme: Tenant,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(span, "TRACER", provider.get_tracer("memoranda"))
    run = await memoranda.runs.create(acme.owner, agent_id=acme.scout.id)
    with caplog.at_level(logging.DEBUG):
        for made in SECRETS[::9]:
            said = f"Key: {made.value}"[:500]
            if len(made.value) > 480:
                continue
            with pytest.raises(SecretFound):
                await memoranda.memories.remember(acme.owner, said, run_id=run.id)
            with pytest.raises(SecretFound):
                await memoranda.proposals.propose(acme.owner, said, run_id=run.id)
            await memoranda.tools.call(acme.owner, "remember", {"content": said})
            assert part(made) not in caplog.text
    kept = await everything_kept(memoranda, acme)
    sent = "".join(each.to_json() for each in exporter.get_finished_spans())
    assert "secret_found" in sent
    assert not [made.kind for made in SECRETS[::9] if part(made) in kept + sent]


async def test_what_is_no_credential_is_remembered(memoranda: Memoranda, acme: Tenant) -> None:
    texts = {text.strip() for text in innocent_texts() if len(text.strip()) <= 500}
    kept = 0
    for text in texts:
        with suppress(DuplicateMemory):  # the same but for its letters' case
            await memoranda.memories.remember(acme.owner, text)
            kept += 1
    assert kept >= 150
