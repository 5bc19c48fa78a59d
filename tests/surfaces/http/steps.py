"""How the walk calls an operation: a request with the rows of an organization, and which roles may make it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from tests.surfaces.http.house import Api, Rows

Call = Callable[[Api, Rows], Awaitable[httpx.Response]]

EVERYBODY = frozenset({"owner", "member", "agent", "read_only"})
WRITERS = frozenset({"owner", "member", "agent"})
READERS = frozenset({"owner", "read_only"})
PEOPLE = frozenset({"owner", "member"})
OWNER = frozenset({"owner"})
OPERATOR = frozenset({"operator"})
ANYBODY = EVERYBODY | OPERATOR | {"nobody"}


@dataclass(frozen=True)
class Step:
    """A call; whether it names rows of an organization; and which roles may make it."""

    call: Call
    names_rows: bool
    roles: frozenset[str]


def get(path: str, roles: frozenset[str], *, names_rows: bool | None = None) -> Step:
    """A GET of a path whose `{name}`s are fields of the rows."""
    named = "{" in path if names_rows is None else names_rows
    return Step(lambda api, rows: api.get(path.format(**vars(rows))), named, roles)


def post(
    path: str,
    roles: frozenset[str],
    body: Callable[[Rows], object] | None = None,
    *,
    names_rows: bool | None = None,
) -> Step:
    """A POST, likewise, with the body that the rows make."""
    named = "{" in path if names_rows is None else names_rows
    return Step(
        lambda api, rows: api.post(path.format(**vars(rows)), body(rows) if body else None),
        named,
        roles,
    )


def patch(path: str, roles: frozenset[str], body: Callable[[Rows], object]) -> Step:
    """A PATCH, likewise."""
    return Step(
        lambda api, rows: api.send("PATCH", path.format(**vars(rows)), json=body(rows)),
        "{" in path,
        roles,
    )


def subject(rows: Rows) -> dict[str, str]:
    return {"user_id": rows.user, "agent_id": rows.agent}


def put(
    path: str,
    roles: frozenset[str],
    body: Callable[[Rows], object],
    *,
    names_rows: bool = False,
) -> Step:
    """A PUT, likewise."""
    named = names_rows or "{" in path
    return Step(
        lambda api, rows: api.send("PUT", path.format(**vars(rows)), json=body(rows)), named, roles
    )
