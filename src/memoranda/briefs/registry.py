"""The sources that this process can read, one per name."""

from collections.abc import Iterable
from typing import Protocol

from pydantic import BaseModel

from memoranda.briefs.models import (
    CLASS_ORDER,
    ContextItem,
    ContextKind,
    ContextRequest,
    ContextSourceSpec,
)
from memoranda.briefs.options import OPTION_SCHEMAS, is_filter_name


class ContextSource(Protocol):
    """A reader of one class of items. It filters by `request.subject` and by nothing else.

    One that can tell what was there at a past time, `request.as_of`, says so with a text
    `past`: what of its answer is of the present all the same, or "" where nothing is. Any other is
    not asked about the past.
    """

    @property
    def name(self) -> str:
        """One of the ten names."""

    @property
    def kind(self) -> ContextKind:
        """The class of the items it returns."""

    @property
    def options_schema(self) -> type[BaseModel]:
        """The closed, strict schema of `spec.options`."""

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """Return items in the source's own order, at most `spec.limit` of them."""


class ContextSourceRegistry:
    """Holds the sources by name; raises ValueError for one that must not be registered."""

    def __init__(self, sources: Iterable[ContextSource] = ()) -> None:
        self._sources: dict[str, ContextSource] = {}
        for source in sources:
            _check(source)
            if source.name in self._sources:
                raise ValueError(f"Two context sources are named {source.name!r}; keep one.")
            self._sources[source.name] = source

    def get(self, name: str) -> ContextSource | None:
        """Return the reader of that name, or None where this deployment has none."""
        return self._sources.get(name)

    @property
    def names(self) -> tuple[ContextKind, ...]:
        """The names that have a reader, in class order."""
        return tuple(name for name in CLASS_ORDER if name in self._sources)

    @property
    def option_schemas(self) -> dict[str, type[BaseModel]]:
        """The option schema of each of the ten names; a registered reader brings its own."""
        readers = {name: source.options_schema for name, source in self._sources.items()}
        return {**OPTION_SCHEMAS, **readers}


def past_of(source: ContextSource) -> str | None:
    """What the source says of its answers for a past time; None where it has none."""
    said = getattr(source, "past", None)
    return said if isinstance(said, str) else None


def _check(source: ContextSource) -> None:
    if source.name not in CLASS_ORDER:
        raise ValueError(
            f"{source.name!r} is no context source; the names are {', '.join(CLASS_ORDER)}."
        )
    schema = source.options_schema
    if schema.model_config.get("extra") != "forbid" or not schema.model_config.get("strict"):
        raise ValueError(f"The options of {source.name!r} must forbid extras and be strict.")
    if filters := [name for name in schema.model_fields if is_filter_name(name)]:
        raise ValueError(
            f"The options of {source.name!r} must not filter by tenant, user or row: {filters}."
        )
