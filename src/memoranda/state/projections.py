"""What a host declares of its own tables: which rows a ref may name, whose they are, what is shown."""

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

MOST_COLUMNS: Final = 100

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KIND: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")

SourceName = Literal["application", "outreach", "outreach_thread"]


def _plain(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no plain name: use letters, digits and _, no digit first")
    return name


def _plain_table(name: str) -> str:
    schema, dot, table = name.rpartition(".")
    if dot:
        _plain(schema)
    _plain(table)
    return name


def _plain_kind(kind: str) -> str:
    if not _KIND.fullmatch(kind):
        raise ValueError(
            f"{kind!r} is no kind: use lower-case words of letters, digits and _, parted by dots"
        )
    return kind


Column = Annotated[str, AfterValidator(_plain)]
Table = Annotated[str, AfterValidator(_plain_table)]
Kind = Annotated[str, AfterValidator(_plain_kind)]


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bridge(_Declared):
    """A table of tenants through whose foreign key a row is reached that belongs to none.

    `foreign_key` is the bridge's column that holds the shared row's id.
    """

    table: Table
    tenant: Column
    foreign_key: Column
    soft_delete: Column | None = None


class Projection(_Declared):
    """One kind of row: its table, whose it is, and the columns that are shown.

    `tenant` is the column that holds the host's id of the organization; a table without one has
    a `bridge`. `soft_delete` is the column that says that a row is deleted: a time, or a boolean.
    `title` is the column that names a row for people. Rows of the two outreach sources are
    put in order by `newest`, and `parents` says by which kinds of refs they are asked for, and
    through which column of theirs: `{"outreach.thread": "thread_id"}`.
    """

    kind: Kind
    table: Table
    columns: tuple[Column, ...] = Field(min_length=1, max_length=MOST_COLUMNS)
    tenant: Column | None = None
    id: Column = "id"
    soft_delete: Column | None = None
    bridge: Bridge | None = None
    title: Column | None = None
    source: SourceName = "application"
    newest: Column | None = None
    parents: dict[Kind, Column] = {}

    @model_validator(mode="after")
    def _held_to_a_tenant(self) -> Self:
        if self.tenant is None and self.bridge is None:
            raise ValueError(
                f"{self.kind} says nothing of whose its rows are: name the tenant column of "
                f"{self.table}, or a bridge through which an organization reaches them"
            )
        if self.tenant is not None and self.bridge is not None:
            raise ValueError(
                f"{self.kind} has a tenant column and a bridge: keep the tenant column, and leave "
                "the bridge out"
            )
        return self

    @model_validator(mode="after")
    def _shown_once(self) -> Self:
        if self.id in self.columns:
            raise ValueError(
                f"{self.kind} shows {self.id}, which its ref says already: leave it out of columns"
            )
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"{self.kind} shows a column twice: name each once")
        return self

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.source == "application":
            if self.newest is not None or self.parents:
                raise ValueError(
                    f"{self.kind} is application state, which is read by its own refs: newest and "
                    "parents are for outreach"
                )
        elif self.newest is None:
            raise ValueError(
                f"{self.kind} is {self.source}, of which the newest come first: name the column "
                "that holds their time as newest"
            )
        return self

    def used(self) -> dict[str, str]:
        """Each column of its table that it needs, with what it needs it for."""
        needs = dict.fromkeys(self.columns, "columns")
        own = {"id": self.id, "tenant": self.tenant, "soft_delete": self.soft_delete}
        own |= {"title": self.title, "newest": self.newest}
        own |= {f"parents.{kind}": column for kind, column in self.parents.items()}
        return needs | {column: what for what, column in own.items() if column is not None}


class HostState(_Declared):
    """A host's database and what of it may be shown.

    `database` is a SQLite file, `sqlite:///…` or `postgresql://…`. An organization's rows are those
    whose tenant column holds its `external_id`; `default_tenant` stands in for that of the default
    organization, which has none.
    """

    database: str = Field(min_length=1, repr=False)  # it may hold a password
    projections: tuple[Projection, ...] = Field(min_length=1)
    default_tenant: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_of_a_kind(self) -> Self:
        if twice := _twice([each.kind for each in self.projections]):
            raise ValueError(f"{twice} is declared twice: a kind names the rows of one table")
        return self


def _twice(kinds: Sequence[str]) -> str | None:
    return next((kind for place, kind in enumerate(kinds) if kind in kinds[:place]), None)
