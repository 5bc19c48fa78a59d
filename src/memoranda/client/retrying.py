"""When a call is made again, and after how long. Pure, but for chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from memoranda.client.call import Call
from memoranda.words.chance import spread
from memoranda.words.errors import Invalid, MemorandaError, StorageBusy
from memoranda.words.given import checked

NEVER_DONE: Final = frozenset({429})
"""Statuses of requests that were refused before anything was done about them."""
BETWEEN: Final = frozenset({502, 503, 504})
"""Statuses that say nothing of whether the request was done."""


LONGEST_S: Final = 24 * 3600.0
"""Nobody waits longer: a day."""
MOST_DOUBLED: Final = 60
"""A wait that was doubled so often is longer than any that somebody waits."""


class Failure(NamedTuple):
    """How an attempt failed. `status` is None without an answer; `sent` is False where nothing can have arrived."""

    error: MemorandaError
    status: int | None = None
    wait_s: float | None = None
    sent: bool = True


@checked
def check_retries(tries: int, first_wait_s: float, longest_wait_s: float) -> None:
    """Return where these are times and waits. Raises `Invalid`."""
    if tries < 1:
        raise Invalid("tries counts the first attempt too: say 1 or more.", field="tries")
    for name, value in (("first_wait_s", first_wait_s), ("longest_wait_s", longest_wait_s)):
        if not 0 <= value <= LONGEST_S:
            raise Invalid(f"{name} is a number of seconds, from 0 to a day.", field=name)


@dataclass(frozen=True)
class Retries:
    """How often a call is made, and how long is waited in between.

    `tries` counts the first one too. A wait is what the server asks for in `Retry-After`, else `first_wait_s`,
    doubled each time. Where it would be longer than `longest_wait_s`, the error is raised at once.
    """

    tries: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0

    def __post_init__(self) -> None:
        """Refuse what no waiting can be made of. Raises `Invalid`."""
        check_retries(self.tries, self.first_wait_s, self.longest_wait_s)

    def wait_s(self, call: Call[Any], failure: Failure, tried: int) -> float | None:
        """How long to wait before the next attempt, or None where there is none.

        Every call is made again that was not done for certain: nothing arrived, there were too many, or the
        database was busy and wrote nothing. Where that is not certain, only calls that may be repeated are.
        """
        if tried >= self.tries or not call.resendable or not may_repeat(call, failure):
            return None
        if failure.wait_s is not None:
            return failure.wait_s if failure.wait_s <= self.longest_wait_s else None
        full = min(self.first_wait_s * 2.0 ** min(tried - 1, MOST_DOUBLED), self.longest_wait_s)
        return spread(full)


PATIENT: Final = Retries(tries=8)
"""For whoever follows, once a stream was open: half a minute to a minute, in which a server may start again."""


def may_repeat(call: Call[Any], failure: Failure) -> bool:
    """Whether making the call again can't do anything twice, and may help."""
    if not failure.sent or failure.status in NEVER_DONE or isinstance(failure.error, StorageBusy):
        return True
    lost = failure.status is None or failure.status in BETWEEN
    return call.reads and lost


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """What `Retry-After` says, where it says seconds."""
    said = headers.get("retry-after", "")
    return float(said) if said.isascii() and said.isdigit() else None
