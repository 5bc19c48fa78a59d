"""Parts of statements that no store has any business with, for the tests that attack the guard."""

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    Uuid,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement
from sqlalchemy.types import UserDefinedType

from memoranda.storage.scope import Shared


class Everything(ColumnElement[bool]):
    """A part that renders itself, as a careless extension could."""

    inherit_cache = False
    type = Boolean()


@compiles(Everything)
def _everything(element: Everything, compiler: object, **kw: object) -> str:
    return "1 = 1) OR (1 = 1"


class Injected(UserDefinedType[int]):
    cache_ok = True

    def get_col_spec(self, **kw: object) -> str:
        return "INTEGER) FROM users --"


class Wrapped(TypeDecorator[str]):
    impl = Text
    cache_ok = True

    def column_expression(self, column: Any) -> Any:
        return text("(SELECT name FROM users)")


def lying(name: str) -> Table:
    """A second declaration of a real table, which says that it holds nobody's rows."""
    return Table(
        name,
        MetaData(),
        Column("id", Uuid(), primary_key=True),
        Column("name", String()),
        info={"tenancy": Shared()},
    )
