"""Says which name was taken when the database refuses a new organization, user or agent."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from memoranda.storage import ConstraintViolated
from memoranda.words.errors import Conflict

# Constraint → what there is already, and the field that names it.
_TAKEN: Final = {
    "one_organization_per_external_id": ("An organization", "external_id"),
    "one_user_per_external_id": ("A user of this organization", "external_id"),
    "one_agent_per_slug": ("An agent of this organization", "slug"),
    "one_agent_per_external_id": ("An agent of this organization", "external_id"),
}


@contextmanager
def naming(**wanted: str | None) -> Iterator[None]:
    """Turn a refused duplicate into a `Conflict` that names the field and the value of `wanted`."""
    try:
        yield
    except ConstraintViolated as broken:
        if broken.name not in _TAKEN:
            raise
        who, field = _TAKEN[broken.name]
        raise Conflict(
            f"{who} with the {field} {wanted[field]!r} exists already. "
            f"Use it, or choose another {field}.",
            field=field,
            value=wanted[field],
        ) from None
