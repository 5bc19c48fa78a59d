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
from memoranda.briefs.registry import ContextSource, ContextSourceRegistry
from memoranda.words.errors import RequiredContextSourceError

logger = logging.getLogger(__name__)


class _Answer(NamedTuple):
    items: Sequence[ContextItem] = ()
    failure: FailureReason | None = None


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
        """
        specs = policy.enabled()
        reads = [asyncio.create_task(self._read(request, spec)) for spec in specs.values()]
        answers = dict(zip(specs, await asyncio.gather(*reads), strict=True))
        failures = {name: why for name, (_, why) in answers.items() if why is not None}
        if required := {name: why for name, why in failures.items() if specs[name].required}:
            raise RequiredContextSourceError.because(required)
        items = [item for answer in answers.values() for item in answer.items]
        brief = self._packer.pack(items, policy, list(failures), explain=explain)
        return brief.model_copy(update={"failure_reasons": failures})

    async def _read(self, request: ContextRequest, spec: ContextSourceSpec) -> _Answer:
        source = self._registry.get(spec.name)
        if source is None:
            return _failed(spec, "missing")
        read = asyncio.create_task(_retrieve(source, request, spec))
        try:
            # Not wait_for: that waits for a cancelled read to end, and a read may refuse to.
            await asyncio.wait({read}, timeout=self._timeout)
        finally:
            if not read.done():
                self._abandon(read)
        if not read.done():
            return _failed(spec, "timeout")
        error = None if read.cancelled() else read.exception()
        if read.cancelled() or error is not None:
            return _failed(spec, "error", error)
        if any(item.source != spec.name for item in read.result()):
            return _failed(spec, "foreign_item")
        return _Answer(read.result())

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


def _failed(
    spec: ContextSourceSpec, reason: FailureReason, error: BaseException | None = None
) -> _Answer:
    # The type alone: an error's message may quote what people wrote.
    kind = "" if error is None else f" ({type(error).__name__})"
    logger.warning("Context source %s did not answer: %s%s.", spec.name, reason, kind)
    return _Answer(failure=reason)
