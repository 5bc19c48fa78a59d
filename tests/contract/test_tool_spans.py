"""Each call is one span, with ids, counts and codes and nothing that was said."""

import json

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from memoranda.storage import Storage
from memoranda.tools import span
from memoranda.tools.models import Course
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant
from tests.contract.tool_house import ToolHouse

RUN = Course(run_id=new_id())


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What a host would be sent that traces this process."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(span, "TRACER", provider.get_tracer("memoranda"))
    return exporter


@pytest.fixture
async def house(storage: Storage, acme: Tenant) -> ToolHouse:
    return ToolHouse(storage, acme)


async def test_a_call_is_one_span_that_says_how_it_ended(
    house: ToolHouse, spans: InMemorySpanExporter
) -> None:
    agent = house.acme.key_of(house.acme.scout)
    await house.tools.invoke(house.acme.owner, "note", {"text": "Oat milk."}, key="k")
    await house.tools.invoke(house.acme.owner, "note", {"text": "Oat milk."}, key="k")
    await house.tools.invoke(agent, "note", {"text": "Tea."}, course=RUN)
    await house.tools.invoke(house.acme.owner, "look", {})
    ids = {"memoranda.organization_id": str(house.organization)}
    noted = {"memoranda.tool": "note", **ids}
    assert [(each.name, dict(each.attributes or {})) for each in spans.get_finished_spans()] == [
        ("memoranda.tool note", {**noted, "memoranda.outcome": "done"}),
        ("memoranda.tool note", {**noted, "memoranda.outcome": "replayed"}),
        (
            "memoranda.tool note",
            {
                **noted,
                "memoranda.agent_id": str(house.acme.scout.id),
                "memoranda.run_id": str(RUN.run_id),
                "memoranda.outcome": "asked",
            },
        ),
        (
            "memoranda.tool look",
            {
                "memoranda.tool": "look",
                **ids,
                "memoranda.outcome": "done",
                "memoranda.items": 1,
            },
        ),
    ]


async def test_what_failed_is_an_error_and_what_was_refused_is_an_answer(
    house: ToolHouse, spans: InMemorySpanExporter
) -> None:
    owner = house.acme.owner
    for tool in ("swordfish", "stumble", "break"):
        await house.tools.call(owner, tool, {"text": "swordfish"})
    await house.tools.call(owner, "lose", {})
    ends = [
        (each.name, (each.attributes or {})["memoranda.code"], each.status.status_code)
        for each in spans.get_finished_spans()
    ]
    assert ends == [
        ("memoranda.tool", "unknown_tool", StatusCode.UNSET),
        ("memoranda.tool stumble", "conflict", StatusCode.UNSET),
        ("memoranda.tool break", "tool_failed", StatusCode.ERROR),
        ("memoranda.tool lose", "storage_busy", StatusCode.ERROR),
    ]


async def test_no_span_holds_what_was_said(house: ToolHouse, spans: InMemorySpanExporter) -> None:
    owner = house.acme.owner
    for tool in ("note", "note", "stumble", "break", "crack", "swordfish"):
        await house.tools.call(owner, tool, {"text": "swordfish"}, key="swordfish")
        await house.tools.call(owner, tool, {"swordfish": ["swordfish"]})
    finished = spans.get_finished_spans()
    assert len(finished) == 12
    assert "swordfish" not in json.dumps([each.to_json() for each in finished])
    assert not any(each.events for each in finished)


async def test_without_a_tracing_host_nothing_is_traced_and_all_works(house: ToolHouse) -> None:
    assert not trace.get_current_span().is_recording()
    assert (await house.tools.invoke(house.acme.owner, "look", {})).answer == {"items": []}
