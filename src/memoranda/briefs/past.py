"""What a brief of a past time says of its sources: which could tell of it, and why others could not."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from memoranda.briefs.models import FailureReason, SourceTime
from memoranda.words.errors import Gone

PRESENT_ONLY: Final = "It tells what is there now, and keeps nothing of how it was."
NO_ANSWER: Final = "It did not answer."
UNTOLD: Final[frozenset[FailureReason]] = frozenset({"present_only", "gone"})
"""Why a source has no answer for a past time, however often it is asked."""

LOOKING_BACK: Final = 10
"""How many times as long a source may take for the past: no run waits for it, and no index is made for it."""


def source_time(as_of: datetime, failure: FailureReason | None, note: str) -> SourceTime:
    """The time that a source's answer is for; `note` is the source's own, or says why it has none."""
    if failure is None:
        return SourceTime(speaks_for=as_of, note=note)
    return SourceTime(speaks_for=None, note=note or NO_ANSWER)


def untold(required: Mapping[str, FailureReason], notes: Mapping[str, str]) -> Gone | None:
    """The refusal of a brief whose required sources can't tell of the past, if it is for that."""
    names = [name for name, reason in required.items() if reason in UNTOLD]
    if not names:
        return None
    return Gone(
        f"The policy requires sources that can't tell of that time: {_listed(names, notes)} "
        "Name a policy in which they are optional.",
        sources=names,
        reasons=dict(required),
    )


def _listed(names: Iterable[str], notes: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {notes.get(name) or NO_ANSWER}" for name in names)
