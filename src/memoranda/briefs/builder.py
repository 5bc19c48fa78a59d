"""The builder: reads every enabled source at once, judges the answers, and has them packed.

It makes no model call and no choice of its own: the same answers give the same brief, however
long each took.
"""

import asyncio
import logging
import math
from collections.abc import Sequence
from typing import NamedTuple

from memoranda.briefs.models import (
    ContextBrief,
    ContextItem,
    ContextPolicy,
    ContextRequest,
    ContextSourceSpec,
    FailureReason,
)
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.past import LOOKING_BACK, PRESENT_ONLY, source_time, untold
from memoranda.briefs.registry import ContextSource, ContextSourceRegistry, past_of
from memoranda.words.errors import Gone, RequiredContextSourceError

logger = logging.getLogger(__name__)


class _Answer(NamedTuple):
    items: Sequence[ContextItem] = ()
    failure: FailureReason | None = None
    note: str = ""


class DefaultContextBuilder:
    """Builds briefs. `source_timeout_s` is what each single read may take, in seconds.

    Raises ValueError when the timeout is not positive and finite.
    """

    def __init__(
        self,
        registry: ContextSourceRegistry,
        packer: ContextPacker,
        *,
        source_timeout_s: float = 1.0,
    ) -> None:
        if not (math.isfinite(source_timeout_s) and source_timeout_s > 0):
            raise ValueError("source_timeout_s must be a positive, finite number of seconds.")
        self._registry = registry
        self._packer = packer
        self._timeout = source_timeout_s
        # The loop holds tasks weakly; a read that outlives its timeout must not vanish half-way.
        self._abandoned: set[asyncio.Task[list[ContextItem]]] = set()

    async def build(
        self, request: ContextRequest, policy: ContextPolicy, *, explain: bool = False
    ) -> ContextBrief:
        """Read every enabled source of the policy and pack what they answered.

        A source fails when it raises, takes too long, has no reader here, or returns an item
        that names another source. An optional failure is named in the brief. Required failures
        raise one RequiredContextSourceError, after all answers are in. When the caller is
        cancelled, the reads are cancelled too and there is no brief.

        Of a past time (`request.as_of`) a source that knows the present alone is not read: it has
        failed, as has one that lost what it would have to tell. Where such a one is
        required, raises `Gone`.
        """
        specs = policy.enabled()
        reads = [asyncio.create_task(self._read(request, spec)) for spec in specs.values()]
        answers = dict(zip(specs, await asyncio.gather(*reads), strict=True))
        failures = {name: each.failure for name, each in answers.items() if each.failure}
        if required := {name: why for name, why in failures.items() if specs[name].required}:
            notes = {name: each.note for name, each in answers.items()}
            raise untold(required, notes) or RequiredContextSourceError.because(required)
        items = [item for answer in answers.values() for item in answer.items]
        brief = self._packer.pack(items, policy, list(failures), explain=explain)
        then = request.as_of
        times = {
            name: source_time(then, each.failure, each.note)
            for name, each in answers.items()
            if then is not None
        }
        return brief.model_copy(update={"failure_reasons": failures, "as_of": then, "times": times})

    async def _read(self, request: ContextRequest, spec: ContextSourceSpec) -> _Answer:
        source = self._registry.get(spec.name)
        if source is None:
            return _failed(spec, "missing")
        past = past_of(source)
        if request.as_of is not None and past is None:
            return _Answer(failure="present_only", note=PRESENT_ONLY)
        timeout = self._timeout * (1 if request.as_of is None else LOOKING_BACK)
        read = asyncio.create_task(_retrieve(source, request, spec))
        try:
            # Not wait_for: that waits for a cancelled read to end, and a read may refuse to.
            await asyncio.wait({read}, timeout=timeout)
        finally:
            if not read.done():
                self._abandon(read)
        answer = _judged(read, spec, of_the_past=request.as_of is not None)
        return answer if answer.failure else answer._replace(note=past or "")

    def _abandon(self, read: asyncio.Task[list[ContextItem]]) -> None:
        self._abandoned.add(read)
        read.add_done_callback(self._forget)
        read.cancel()

    def _forget(self, read: asyncio.Task[list[ContextItem]]) -> None:
        self._abandoned.discard(read)
        if not read.cancelled():
            read.exception()  # marks it as seen; nobody waits for this read any more


async def _retrieve(
    source: ContextSource, request: ContextRequest, spec: ContextSourceSpec
) -> list[ContextItem]:
    # Within a task, whatever a source does wrong on being called is its own failure. An answer
    # that is no list of items fails here as well.
    items = list(await source.retrieve(request, spec))
    if not all(isinstance(item, ContextItem) for item in items):
        raise TypeError("A context source must return ContextItems.")
    return items


def _judged(
    read: asyncio.Task[list[ContextItem]], spec: ContextSourceSpec, *, of_the_past: bool
) -> _Answer:
    if not read.done():
        return _failed(spec, "timeout")
    error = None if read.cancelled() else read.exception()
    if of_the_past and isinstance(error, Gone):
        return _Answer(failure="gone", note=error.message)
    if read.cancelled() or error is not None:
        return _failed(spec, "error", error)
    if any(item.source != spec.name for item in read.result()):
        return _failed(spec, "foreign_item")
    return _Answer(read.result())


def _failed(
    spec: ContextSourceSpec, reason: FailureReason, error: BaseException | None = None
) -> _Answer:
    # The type alone: an error's message may quote what people wrote.
    kind = "" if error is None else f" ({type(error).__name__})"
    logger.warning("Context source %s did not answer: %s%s.", spec.name, reason, kind)
    return _Answer(failure=reason)
