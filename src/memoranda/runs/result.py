"""What a run's result may be: checked before it is kept."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.runs.models import RunResult
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_length, optional_text_input
from memoranda.words.ref import ResourceRef, parse_refs

LONGEST_SUMMARY: Final = 4_000
LONGEST_REASON: Final = 1_000
"""Characters that a reason to wait, or of a failure, may have."""
MOST_REFS: Final = 200
LONGEST_KIND: Final = 100
LONGEST_ID: Final = 500

Refs = Sequence[ResourceRef | Mapping[str, Any]]


def result_input(summary: str | None, refs: Refs) -> RunResult:
    """The result that a caller states: each row once, without its label.

    Raises `Invalid` for a ref that is none, and `OverLimit` for more than 200 of them, or
    for a text that is too long.
    """
    summary = optional_text_input("summary", summary, limit=LONGEST_SUMMARY)
    if len(refs) > MOST_REFS:
        raise OverLimit(
            f"A result names at most {MOST_REFS} rows, and this one names {len(refs)}: "
            "name those that matter most.",
            field="refs",
            limit=MOST_REFS,
        )
    kept = {_ref(place, each): None for place, each in enumerate(refs)}
    return RunResult(summary=summary, refs=list(kept))


def _ref(place: int, stated: object) -> ResourceRef:
    found, _ = parse_refs([stated if isinstance(stated, ResourceRef) else _plain(stated)])
    if not found:
        raise Invalid(
            f"refs.{place} names no row: give it a kind and an id, each a text.",
            field=f"refs.{place}",
        )
    check_length(f"refs.{place}.kind", found[0].kind, LONGEST_KIND)
    check_length(f"refs.{place}.id", found[0].id, LONGEST_ID)
    return ResourceRef(kind=found[0].kind, id=found[0].id)


def _plain(stated: object) -> object:
    return dict(stated) if isinstance(stated, Mapping) else stated
