"""The values of application state: a row that was read, and what may be asked for."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from memoranda.state.projections import SourceName
from memoranda.words.ref import ResourceRef


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StateField(_Value):
    """What a column of a row says, in words."""

    column: str
    value: str


class Resolved(_Value):
    """A row that a ref names and the organization has: its fields that are not null, in their order.

    `title` is what names the row for people, and `at` the time that it is put in order by, where
    its projection has these.
    """

    ref: ResourceRef
    fields: tuple[StateField, ...]
    title: str | None = None
    at: datetime | None = None


class StateKind(_Value):
    """A kind of row that may be asked for. `source` is the source of briefs that shows it."""

    kind: str
    columns: tuple[str, ...]
    source: SourceName
    parents: tuple[str, ...] = ()
