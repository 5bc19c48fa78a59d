"""The span of a tool's call, for whatever a host traces with: ids, counts and codes, never text."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from memoranda.tools.attempt import Attempt
from memoranda.tools.journal.line import Ending

TRACER: Final = trace.get_tracer("memoranda")
_PREFIX: Final = "memoranda"


@contextmanager
def tool_span(attempt: Attempt) -> Iterator[Span]:
    """A span around one call; it has the tool's name, where the call named one that there is.

    What is raised within is not recorded, because its message may quote what people wrote.
    """
    tool = None if attempt.tool is None else attempt.tool.name
    ids = {
        "tool": tool,
        "organization_id": attempt.organization,
        "agent_id": attempt.who.agent_id,
        "run_id": attempt.course.run_id,
    }
    with TRACER.start_as_current_span(
        f"{_PREFIX}.tool" if tool is None else f"{_PREFIX}.tool {tool}",
        kind=SpanKind.INTERNAL,
        attributes={f"{_PREFIX}.{key}": str(each) for key, each in ids.items() if each is not None},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


def ended(span: Span, ending: Ending, *, code: str | None = None, items: int | None = None) -> None:
    """Say in the span how its call ended. Only what failed is an error: a refusal is an answer."""
    span.set_attribute(f"{_PREFIX}.outcome", str(ending))
    if code is not None:
        span.set_attribute(f"{_PREFIX}.code", code)
    if items is not None:
        span.set_attribute(f"{_PREFIX}.items", items)
    if ending is Ending.FAILED:
        span.set_status(Status(StatusCode.ERROR))
