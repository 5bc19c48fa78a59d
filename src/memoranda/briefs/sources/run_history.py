"""Earlier runs of the same user or trigger, or about the same rows: what was tried, and how it went."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import RunHistoryOptions
from memoranda.runs.history.service import RunHistory
from memoranda.runs.history.store import PastRun
from memoranda.runs.models import RunStatus
from memoranda.words.ref import ResourceRef

REF_KIND: Final = "run"
DEFAULT_LIMIT: Final = 5
LONGEST_ID: Final = 200
"""Characters of an id that a brief writes; a longer one is cut there, and can't be cited."""


class RunHistorySource:
    """What earlier runs came to. Their inputs are never shown."""

    name: ContextKind = "run_history"
    kind: ContextKind = "run_history"
    options_schema = RunHistoryOptions
    past = ""

    def __init__(self, history: RunHistory) -> None:
        self._history = history

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """At most `spec.limit` runs (5 where it is None), newest first; 0 reads nothing."""
        found = await self._history.earlier(
            request.subject,
            request.entities,
            lookback=timedelta(hours=spec.options_as(RunHistoryOptions).lookback_hours),
            limit=DEFAULT_LIMIT if spec.limit is None else spec.limit,
            but=request.run_id,
            as_of=request.as_of,
        )
        return [run_item(each) for each in found]


def run_item(run: PastRun) -> ContextItem:
    """A run as an item. A reply may cite the rows that its result names, where they are written whole."""
    refs = run.result.refs if run.result else []
    return ContextItem(
        source="run_history",
        kind="run_history",
        title=f"Run {run.status}",
        body="; ".join(_parts(run)),
        ref=ResourceRef(kind=REF_KIND, id=str(run.id)),
        body_refs=[ref for ref in refs if len(ref.id) <= LONGEST_ID],
        recorded_at=run.created_at,
    )


def _parts(run: PastRun) -> Iterator[str]:
    yield run.status.value
    if run.parent_id is not None:
        yield f"part of run {run.parent_id}"
    if run.result is not None:
        if run.result.summary:
            yield run.result.summary
        if run.result.refs:
            yield f"results: {', '.join(map(_written, run.result.refs))}"
    if run.status is RunStatus.WAITING and run.waiting_reason:
        yield f"waits for: {run.waiting_reason}"
    if run.status is RunStatus.FAILED and run.failure_reason:
        yield f"failed because: {run.failure_reason}"


def _written(ref: ResourceRef) -> str:
    shown = ref.id if len(ref.id) <= LONGEST_ID else f"{ref.id[: LONGEST_ID - 1]}…"
    return f"{ref.kind} {shown}"
