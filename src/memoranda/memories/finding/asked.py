"""What a recall is asked for, and which options it takes. Pure."""

import math
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.memories.finding.recall import LEAST_TOKENS
from memoranda.memories.limits import LONGEST_TEXT_EVER
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_count, text_input
from memoranda.words.subject import ContextSubject
from memoranda.words.text import clean

MOST_FOUND: Final = 50
MOST_NAMES: Final = 20
LONGEST_QUERY: Final = LONGEST_TEXT_EVER
"""Characters: no memory could hold a longer one. Of the text of a run, so much is read."""
TIMEOUT_S: Final = 2.0
LONGEST_TIMEOUT_S: Final = 60.0
MOST_TOKENS: Final = 100_000


class Asked(NamedTuple):
    """A recall as it is asked for, by `who` or by a context source, which has checked for whom."""

    subject: ContextSubject
    query: str
    run_id: UUID | None
    limit: int
    max_tokens: int
    timeout_s: float
    who: Principal | None = None
    looks_only: bool = False

    @property
    def leaves_a_trace(self) -> bool:
        """Whether it is logged and counted as use; who only looks at what a run would get leaves none."""
        reads = self.who is not None and self.who.role is Role.READ_ONLY
        return not (reads or self.looks_only)


def asked_input(asked: Asked) -> Asked:
    """The same, its query made readable. Raises `Invalid` for an option out of its bounds."""
    check_count("limit", asked.limit, most=MOST_FOUND)
    if not LEAST_TOKENS <= asked.max_tokens <= MOST_TOKENS:
        raise Invalid(
            f"max_tokens is {asked.max_tokens} and must be between {LEAST_TOKENS} and {MOST_TOKENS}.",
            field="max_tokens",
        )
    if not (math.isfinite(asked.timeout_s) and 0 < asked.timeout_s <= LONGEST_TIMEOUT_S):
        raise Invalid(
            f"timeout_s is {asked.timeout_s} and must be above 0 and at most {LONGEST_TIMEOUT_S:g}.",
            field="timeout_s",
        )
    return asked._replace(query=clean(asked.query[:LONGEST_QUERY]).strip())


def filter_input(field: str, names: object) -> tuple[str, ...]:
    """What a list is narrowed to: the names as they are stored, in one order, at most 20. Raises as `names_input`."""
    wanted = sorted(names_input(field, names))
    if len(wanted) > MOST_NAMES:
        raise OverLimit(
            f"{field} has {len(wanted)} entries and may have {MOST_NAMES}: leave some out.",
            field=field,
            limit=MOST_NAMES,
        )
    return tuple(wanted)


def names_input(field: str, names: object) -> frozenset[str]:
    """The names as they are stored. Raises `Invalid` for a text, which is a list of letters to Python."""
    if isinstance(names, str) or not isinstance(names, list | tuple | set | frozenset):
        raise Invalid(f"{field} must be a list of texts.", field=field)
    if not all(isinstance(name, str) for name in names):
        raise Invalid(f"{field} holds something that is no text.", field=field)
    return frozenset(text_input(field, name) for name in names)
