"""Counts what becomes of a file's entries, and keeps examples of each kind."""

from collections import Counter
from collections.abc import Mapping

from memoranda.memories.audience import Audience
from memoranda.memories.transfer.deciding import Decision
from memoranda.memories.transfer.entry import State
from memoranda.memories.transfer.limits import MOST_ALIKE, MOST_EXAMPLES
from memoranda.memories.transfer.models import ImportedLine, ImportReport, ImportSource, Outcome

ONCE = frozenset({"memories_full", "proposals_full"})
"""What is true of all that follows, and so is said once."""


class Tally:
    """What became of the entries so far."""

    def __init__(self) -> None:
        self._outcomes: Counter[Outcome] = Counter()
        self._reasons: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()
        self._written: Counter[State] = Counter()
        self._for_everybody = 0
        self._examples: list[ImportedLine] = []
        self._kept: Counter[Outcome] = Counter()
        self._alike: Counter[tuple[Outcome, str | None, tuple[str, ...]]] = Counter()

    @property
    def done(self) -> int:
        """How many entries have come to an end."""
        return self._outcomes.total()

    def refuse(self, line: int, code: str, detail: str) -> None:
        """A line was refused before anything was looked up."""
        self._count(ImportedLine(line=line, outcome="refused", code=code, detail=detail))

    def add(self, decision: Decision) -> None:
        """What became of an entry."""
        self._written[decision.state] += len(decision.takes)
        if decision.state is not State.FORGOTTEN:
            audiences = (piece.candidate.audience for piece in decision.takes)
            self._for_everybody += sum(audience == Audience() for audience in audiences)
        self._count(
            ImportedLine(
                line=decision.line,
                outcome=decision.outcome,
                code=decision.code,
                how=decision.how,
                detail=decision.detail,
                memory_id=decision.memory_id,
                same_as=decision.same_as,
            )
        )

    def report(
        self, source: ImportSource, passed: Mapping[str, int], *, dry_run: bool
    ) -> ImportReport:
        """All of it."""
        return ImportReport(
            source=source,
            dry_run=dry_run,
            entries=self.done,
            taken=self._outcomes["taken"],
            changed=self._outcomes["changed"],
            known=self._outcomes["known"],
            refused=self._outcomes["refused"],
            passed=sum(passed.values()),
            passes=dict(sorted(passed.items())),
            written=self._written.total(),
            forgotten=self._written[State.FORGOTTEN],
            proposals=self._written[State.PROPOSED],
            for_everybody=self._for_everybody,
            reasons=dict(sorted(self._reasons.items())),
            changes=dict(sorted(self._changes.items())),
            examples=tuple(sorted(self._examples, key=lambda each: each.line)),
        )

    def _count(self, line: ImportedLine) -> None:
        self._outcomes[line.outcome] += 1
        self._changes.update(line.how)
        if line.code is not None:
            self._reasons[line.code] += 1
        alike = (line.outcome, line.code, line.how)
        most = 1 if line.code in ONCE else MOST_ALIKE
        if self._kept[line.outcome] < MOST_EXAMPLES and self._alike[alike] < most:
            self._kept[line.outcome] += 1
            self._alike[alike] += 1
            self._examples.append(line)
