"""What memories are as the documents tell of it: values, and the rules that need no more than one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from memoranda.memories.limits import MemoryLimits

LIMITS = MemoryLimits(active=6, pinned=2, waiting=3)
MONTH = timedelta(days=30)
OWNER, ANNA, SCOUT = "owner", "anna", "scout"
"""Who acts and reads: an owner, the member Anna, and the key of the agent scout for the user Ben."""
USER_OF = {OWNER: None, ANNA: "anna", SCOUT: "ben"}
Answer = tuple[Any, ...]


class Audience(NamedTuple):
    """For whom it is, by name; None is everybody."""

    user: str | None = None
    agent: str | None = None


class Refusal(Exception):
    """What the product has to answer instead, by its code."""


@dataclass(frozen=True)
class Op:
    """One call of a verb; what is not in `given` is left out of the call."""

    verb: str
    who: str
    target: UUID | None = None
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Said:
    """One revision. A tombstone has no text."""

    text: str | None
    title: str | None
    expires: datetime | None
    at: datetime
    goes_on: UUID | None = None


@dataclass
class Chain:
    id: UUID
    audience: Audience
    attribute: str | None
    said: list[Said]
    pinned: bool = False
    came_from: UUID | None = None

    @property
    def version(self) -> int:
        return len(self.said)

    @property
    def head(self) -> Said:
        return self.said[-1]

    @property
    def ended(self) -> bool:
        return self.head.text is None

    @property
    def forgotten(self) -> bool:
        return self.ended and self.head.goes_on is None

    def live(self, now: datetime) -> bool:
        return not self.ended and not past(self.head.expires, now)

    def restorable_until(self) -> datetime:
        return until(self.head.at, self.said[-2].expires)


@dataclass
class Waiting:
    """A proposal, whatever became of it."""

    id: UUID
    audience: Audience
    attribute: str | None
    said: Said
    by_agent: str | None
    status: str = "waiting"
    decided_at: datetime | None = None
    became: UUID | None = None

    def restorable_until(self) -> datetime:
        assert self.decided_at is not None
        return until(self.decided_at, self.said.expires)


def fold(text: str | None) -> str | None:
    return None if text is None else text.casefold()


def past(expires: datetime | None, now: datetime) -> bool:
    return expires is not None and expires <= now


def until(at: datetime, expires: datetime | None) -> datetime:
    return at + MONTH if expires is None else min(at + MONTH, expires)


def statement(said: Said) -> Answer:
    return (said.text, said.title, said.expires)


def knows(who: str, audience: Audience) -> bool:
    """An owner knows all, a member her own and everybody's with any agent, a key its user's and agent's."""
    its_agent = who != SCOUT or audience.agent in {None, "scout"}
    return who == OWNER or (audience.user in {None, USER_OF[who]} and its_agent)


def bound(who: str, given: Mapping[str, Any]) -> Audience:
    """For whom somebody writes: a member for herself, an agent's key for its user and agent."""
    user, agent = given.get("user"), given.get("agent")
    if who != OWNER:
        if user not in {None, USER_OF[who]}:
            raise Refusal("refused")
        user = USER_OF[who]
    return Audience(user, "scout" if who == SCOUT else agent)


def check_role(op: Op) -> None:
    if op.verb in {"forget_all", "erase"} and op.who != OWNER:
        raise Refusal("refused")
    if op.who == SCOUT and op.verb not in {"propose", "purge_due"}:
        raise Refusal("tool_policy_required")


def check_change(who: str, audience: Audience) -> None:
    if who == ANNA and audience.user != "anna":
        raise Refusal("refused")


def check_version(chain: Chain, given: Mapping[str, Any]) -> None:
    if given.get("version") not in {None, chain.version}:
        raise Refusal("stale_version")


def edited(said: Said, given: Mapping[str, Any], now: datetime) -> Said:
    """What it says once that is changed; a new end must be yet to come."""
    new = replace(said, at=now, goes_on=None)
    for name in ("text", "title", "expires"):
        setattr(new, name, given.get(name, getattr(new, name)))
    if new.expires != said.expires and past(new.expires, now):
        raise Refusal("invalid_input")
    return new
