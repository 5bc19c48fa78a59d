"""The builder reads all sources at once, waits for none too long, and hides no failure."""

import asyncio
import gc
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from pydantic import BaseModel

from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.models import (
    ContextBrief,
    ContextItem,
    ContextKind,
    ContextPolicy,
    ContextRequest,
    ContextSourceSpec,
)
from memoranda.briefs.options import NoOptions
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.registry import ContextSourceRegistry
from memoranda.words.errors import RequiredContextSourceError
from tests.briefs.offers import REQUEST, a_policy, an_item

Read = Callable[[], Awaitable[list[ContextItem]]]


@dataclass
class Source:
    """A source that answers what it is given, or does what it is told to."""

    name: ContextKind
    read: Read | None = None
    reads: int = 0
    options_schema: ClassVar[type[BaseModel]] = NoOptions

    @property
    def kind(self) -> ContextKind:
        return self.name

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        assert request is REQUEST
        assert spec.name == self.name
        self.reads += 1
        return await self.read() if self.read else [an_item(self.name, title=self.name)]


def a_builder(*sources: Source, timeout_s: float = 1.0) -> DefaultContextBuilder:
    registry = ContextSourceRegistry(sources)
    return DefaultContextBuilder(registry, ContextPacker(), source_timeout_s=timeout_s)


def requiring(policy: ContextPolicy, *names: str) -> ContextPolicy:
    specs = [s.model_copy(update={"required": s.name in names}) for s in policy.sources]
    return policy.model_copy(update={"sources": specs})


async def hangs() -> list[ContextItem]:
    await asyncio.sleep(60)
    return []


async def raises() -> list[ContextItem]:
    raise RuntimeError("secret detail")


@pytest.mark.parametrize("timeout_s", [0, 0.0, -1, float("nan"), float("inf"), float("-inf")])
def test_a_timeout_that_is_not_positive_and_finite_fails_construction(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="positive, finite"):
        a_builder(timeout_s=timeout_s)


async def test_every_answer_reaches_the_brief() -> None:
    brief = await a_builder(Source("memory"), Source("dossier")).build(
        REQUEST, a_policy("memory", "dossier"), explain=True
    )
    assert brief.text.split("\n")[1::3] == ["- dossier: body", "- memory: body"]
    assert (brief.failed_sources, brief.failure_reasons) == ([], {})
    assert [entry.outcome for entry in brief.explain or []] == ["kept", "kept"]


async def test_every_source_starts_before_any_is_awaited_and_results_keep_policy_order() -> None:
    started: list[str] = []
    all_started = asyncio.Event()

    def waiting(name: ContextKind, delay: float) -> Read:
        async def read() -> list[ContextItem]:
            started.append(name)
            if len(started) == 3:
                all_started.set()
            await all_started.wait()
            await asyncio.sleep(delay)
            return [an_item(name, title=name, kind="memory", subject_key="a:1:x")]

        return read

    names: list[ContextKind] = ["memory", "knowledge", "dossier"]
    delays = [0.03, 0.02, 0.01]  # the first of the policy answers last
    sources = [Source(n, waiting(n, d)) for n, d in zip(names, delays, strict=True)]
    brief = await a_builder(*sources).build(REQUEST, a_policy(*names), explain=True)
    assert started == names
    assert brief.text == "## Memory\n- memory: body"
    assert [entry.source for entry in brief.explain or []] == names


async def test_a_source_that_hangs_costs_its_timeout_and_is_named_before_the_first_item() -> None:
    began = time.monotonic()
    builder = a_builder(Source("memory"), Source("knowledge", hangs), timeout_s=0.05)
    brief = await builder.build(REQUEST, a_policy("knowledge", "memory"))
    assert time.monotonic() - began < 1
    assert brief.failed_sources == ["knowledge"]
    assert brief.failure_reasons == {"knowledge": "timeout"}
    assert brief.text.startswith("Unavailable sources: knowledge.")
    assert brief.text.endswith("- memory: body")


async def test_a_source_that_refuses_to_be_cancelled_does_not_delay_the_brief() -> None:
    release = asyncio.Event()
    ended: list[str] = []

    async def stubborn() -> list[ContextItem]:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                ended.append("was told")
        ended.append("ended")
        raise RuntimeError("too late to matter")

    builder = a_builder(Source("memory", stubborn), timeout_s=0.02)
    began = time.monotonic()
    brief = await builder.build(REQUEST, a_policy("memory"))
    assert time.monotonic() - began < 1
    assert brief.failure_reasons == {"memory": "timeout"}
    gc.collect()
    release.set()
    await asyncio.sleep(0.01)
    assert ended == ["was told", "ended"]
    assert not builder._abandoned, "nothing is held once it has ended"
    gc.collect()  # an exception that nobody saw would be reported here, and fail the test


async def test_a_source_that_times_out_is_cancelled() -> None:
    cancelled = asyncio.Event()

    async def read() -> list[ContextItem]:
        try:
            return await hangs()
        finally:
            cancelled.set()

    await a_builder(Source("memory", read), timeout_s=0.02).build(REQUEST, a_policy("memory"))
    await asyncio.wait_for(cancelled.wait(), 1)


async def test_an_optional_failure_of_any_sort_is_named_and_the_brief_goes_on() -> None:
    async def foreign() -> list[ContextItem]:
        return [an_item("application"), an_item("memory")]

    async def no_list() -> list[ContextItem]:
        return None  # type: ignore[return-value] # a source may be wrong

    async def no_items() -> list[ContextItem]:
        return ["text"]  # type: ignore[list-item] # a source may be wrong

    async def cancels_itself() -> list[ContextItem]:
        raise asyncio.CancelledError

    sources = [
        Source("conversation", raises),
        Source("application", foreign),
        Source("dossier", no_list),
        Source("knowledge", no_items),
        Source("run_history", cancels_itself),
        Source("memory"),
    ]
    names = ["outreach", *(source.name for source in sources)]
    brief = await a_builder(*sources).build(REQUEST, a_policy(*names), explain=True)
    assert brief.failure_reasons == {
        "outreach": "missing",
        "conversation": "error",
        "application": "foreign_item",
        "dossier": "error",
        "knowledge": "error",
        "run_history": "error",
    }
    assert brief.failed_sources == list(brief.failure_reasons)
    assert [entry.source for entry in brief.explain or []] == ["memory"]
    assert "memory: body" in brief.text


async def test_a_timeout_and_a_missing_reader_are_both_named_before_the_first_item() -> None:
    async def hangs() -> list[ContextItem]:
        await asyncio.sleep(60)
        return []

    builder = a_builder(Source("knowledge", hangs), Source("memory"), timeout_s=0.05)
    brief = await builder.build(REQUEST, a_policy("dossier", "knowledge", "memory"))
    assert brief.failed_sources == ["dossier", "knowledge"]
    assert brief.failure_reasons == {"dossier": "missing", "knowledge": "timeout"}
    notice, *rest = brief.text.splitlines()
    assert ("dossier" in notice, "knowledge" in notice) == (True, True)
    assert "memory: body" in "\n".join(rest)


async def test_a_source_that_fails_on_being_called_fails_alone() -> None:
    source = Source("knowledge")
    source.retrieve = None  # type: ignore[assignment,method-assign] # a source may be wrong
    brief = await a_builder(source, Source("memory")).build(
        REQUEST, a_policy("knowledge", "memory")
    )
    assert brief.failure_reasons == {"knowledge": "error"}
    assert "memory: body" in brief.text


async def test_no_error_text_reaches_the_brief_or_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        brief = await a_builder(Source("memory", raises)).build(REQUEST, a_policy("memory"))
    assert "secret" not in brief.model_dump_json() + caplog.text
    assert "Context source memory did not answer: error (RuntimeError)." in caplog.text


async def test_every_failed_required_source_is_named_in_one_error_in_policy_order() -> None:
    ended: list[str] = []

    async def slow() -> list[ContextItem]:
        await asyncio.sleep(0.03)
        ended.append("slow")
        return []

    sources = [Source("memory", raises), Source("application", slow), Source("dossier", raises)]
    policy = a_policy("run_history", "memory", "application", "dossier")
    with pytest.raises(RequiredContextSourceError) as caught:
        await a_builder(*sources).build(REQUEST, requiring(policy, "memory", "run_history"))
    assert caught.value.sources == ("run_history", "memory")
    assert caught.value.details["reasons"] == {"run_history": "missing", "memory": "error"}
    assert ended == ["slow"], "all answers are in before it is decided"


async def test_a_required_source_that_answers_is_a_brief_like_any_other() -> None:
    builder = a_builder(Source("memory"), Source("dossier", raises))
    brief = await builder.build(REQUEST, requiring(a_policy("memory", "dossier"), "memory"))
    assert brief.failed_sources == ["dossier"]


async def test_a_disabled_source_is_never_read_or_reported() -> None:
    source = Source("memory")
    off = ContextSourceSpec(name="memory", enabled=False, required=True, token_budget=9)
    gone = ContextSourceSpec(name="dossier", enabled=False, required=True, token_budget=9)
    policy = ContextPolicy(sources=[off, gone], total_token_budget=9)
    brief = await a_builder(source).build(REQUEST, policy)
    assert source.reads == 0
    assert (brief.text, brief.failed_sources, brief.dropped) == ("", [], {})


async def test_an_empty_policy_gives_an_empty_brief() -> None:
    brief = await a_builder(Source("memory")).build(REQUEST, a_policy())
    assert (brief.text, brief.tokens, brief.items, brief.failed_sources) == ("", 0, [], [])


async def test_a_source_that_a_policy_names_twice_is_read_once() -> None:
    source = Source("memory")
    brief = await a_builder(source).build(REQUEST, a_policy("memory", "memory"))
    assert source.reads == 1
    assert brief.dropped == {"memory": 0}


async def test_cancelling_the_builder_cancels_active_reads_and_makes_no_brief() -> None:
    active: set[str] = set()
    all_active = asyncio.Event()
    packed: list[str] = []

    class WatchedPacker(ContextPacker):
        def pack(
            self,
            items: Iterable[ContextItem],
            policy: ContextPolicy,
            failed_sources: Sequence[str] = (),
            *,
            explain: bool = False,
        ) -> ContextBrief:
            packed.append("a brief")
            return super().pack(items, policy, failed_sources, explain=explain)

    def read_as(name: str) -> Read:
        async def read() -> list[ContextItem]:
            active.add(name)
            if len(active) == 2:
                all_active.set()
            try:
                return await hangs()
            finally:
                active.discard(name)

        return read

    sources = [Source("memory", read_as("memory")), Source("dossier", read_as("dossier"))]
    builder = DefaultContextBuilder(ContextSourceRegistry(sources), WatchedPacker())
    building = asyncio.create_task(builder.build(REQUEST, a_policy("memory", "dossier")))
    await all_active.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert not active, "every read had ended when the caller learned of it"
    assert not packed


async def test_how_long_sources_take_never_shows_in_the_brief() -> None:
    async def later() -> list[ContextItem]:
        await asyncio.sleep(0.02)
        return [an_item("memory", title="memory")]

    policy = a_policy("memory", "dossier")
    quick = await a_builder(Source("memory"), Source("dossier")).build(REQUEST, policy)
    slow = await a_builder(Source("memory", later), Source("dossier")).build(REQUEST, policy)
    assert quick == slow
