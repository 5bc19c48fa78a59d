"""Compiles statements for one scope: adds its predicates everywhere, and renders nothing that the guard doesn't know."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from sqlalchemy import and_
from sqlalchemy.sql import Delete, FromClause, Insert, Select, Update
from sqlalchemy.sql.selectable import CTE, Join

from memoranda.storage import guard
from memoranda.storage.guard import GuardError
from memoranda.storage.scope import (
    OWNER,
    PARENT,
    RESERVED,
    SCOPE,
    Mine,
    Tenant,
    Through,
    mine_of,
    tenancy_of,
)
from memoranda.storage.tables.base import METADATA
from memoranda.storage.vectors import Distance

# What SQLAlchemy may render, by the names of its visit methods. Everything else is refused: raw text,
# raw operators, hints, table functions, LATERAL, VALUES, casts and whatever a later version brings.
_WORDS: Final = frozenset([
    "select", "compound_select", "select_statement_grouping", "grouping", "insert", "update", "delete", "table", "alias", "subquery", "cte", "join", "column", "label", "label_reference", "bindparam", "mine", "one_of", "one_of_pairs", "contains", "joined", "distance", "has_dimensions", "binary", "unary", "clauselist", "expression_clauselist", "order_by_list", "element_list", "tuple", "case", "null", "true", "false", "function", "funcfilter", "over", "on_conflict_do_nothing", "on_conflict_do_update", "contains_op_binary", "not_contains_op_binary", "startswith_op_binary", "not_startswith_op_binary", "endswith_op_binary", "not_endswith_op_binary", "like_op_binary", "not_like_op_binary", "ilike_op_binary", "not_ilike_op_binary", "between_op_binary", "not_between_op_binary", "not_in_op_binary", "is_distinct_from_binary", "is_not_distinct_from_binary", "is_true_unary_operator", "is_false_unary_operator", "mod_binary", "truediv_binary", "floordiv_binary",
])  # fmt: skip


@dataclass
class _Frame:
    """What may stand in one statement's FROM, and the names that stand there."""

    vouched: set[FromClause]
    # Those whose vectors are of one model, and those that may be read: of one model, or beside its name.
    # An insert may name what it writes.
    one_model: set[FromClause] = field(default_factory=set)
    readable: set[FromClause] | None = None
    names: dict[str, FromClause | None] = field(default_factory=dict)
    # Those of the statements within it, which may be rendered before its own FROM is.
    inner: dict[str, FromClause | None] = field(default_factory=dict)


class ScopedCompiler:
    """Goes before a dialect's own compiler among the bases of a class.

    Where a statement names a table, here is the last place before it turns into
    text, so here the predicate is added and here the guard looks at the result.
    """

    platform: ClassVar[bool]

    def __init__(self, *args: Any, **kw: Any) -> None:
        # While a statement renders, the last of these is its own, and those before it enclose it.
        self._frames: list[_Frame] = []
        self._ctes: dict[str, CTE] = {}
        super().__init__(*args, **kw)

    @property
    def _own(self) -> Any:
        """The dialect's own compiler: it renders what has been looked at."""
        return super()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("visit_") and name[6:] not in _WORDS:
            raise GuardError(f"{name[6:]!r} is no part of SQL that the guard can check.")
        return found

    @contextmanager
    def _frame(
        self, vouched: set[FromClause], statement: Select[Any] | Update | Delete | None = None
    ) -> Iterator[None]:
        frame = _Frame(vouched)
        self._frames.append(frame)
        if statement is not None:
            frame.one_model = guard.of_one_model(statement.whereclause)
            told = guard.told_with_model(statement) if isinstance(statement, Select) else set()
            frame.readable = frame.one_model | told
        yield
        done = self._frames.pop()
        if self._frames:
            inner = self._frames[-1].inner
            for name, source in [*done.names.items(), *done.inner.items()]:
                inner[name] = source if inner.get(name, source) is source else None

    def visit_select(self, select_stmt: Select[Any], *args: Any, **kw: Any) -> Any:
        scoped = select_stmt.where(*mine_of(select_stmt.get_final_froms()))
        with self._frame(guard.check_select(scoped, platform=self.platform), scoped):
            return self._own.visit_select(scoped, *args, **kw)

    def visit_join(self, join: Join, *args: Any, **kw: Any) -> Any:
        if join.isouter and not join.full and join.onclause is not None:
            on = and_(join.onclause, *mine_of([join.right]))
            join = Join(join.left, join.right, on, isouter=True)
        self._frames[-1].vouched |= guard.check_join(join, platform=self.platform)
        return self._own.visit_join(join, *args, **kw)

    def visit_update(self, update_stmt: Update, *args: Any, **kw: Any) -> Any:
        self._refuse_nested_write()
        scoped = update_stmt.where(*mine_of([update_stmt.table]))
        with self._frame(guard.check_update(scoped, platform=self.platform), scoped):
            return self._own.visit_update(scoped, *args, **kw)

    def visit_delete(self, delete_stmt: Delete, *args: Any, **kw: Any) -> Any:
        self._refuse_nested_write()
        scoped = delete_stmt.where(*mine_of([delete_stmt.table]))
        with self._frame(guard.check_delete(scoped, platform=self.platform), scoped):
            return self._own.visit_delete(scoped, *args, **kw)

    def visit_insert(self, insert_stmt: Insert, *args: Any, **kw: Any) -> Any:
        self._refuse_nested_write()
        table = guard.check_insert(insert_stmt, platform=self.platform)
        tenancy = tenancy_of(table)
        # Last, so that it replaces whatever the statement says there itself.
        if isinstance(tenancy, Tenant):
            insert_stmt = insert_stmt.values({tenancy.column: OWNER})
        elif isinstance(tenancy, Through):
            insert_stmt = insert_stmt.values({tenancy.column: PARENT})
        with self._frame({table}):
            return self._own.visit_insert(insert_stmt, *args, **kw)

    def _refuse_nested_write(self) -> None:
        if self._frames:
            raise GuardError("A write within another statement can't be checked: run it by itself.")

    def visit_mine(self, element: Mine, **kw: Any) -> Any:
        """`column = :scope`, or `column IS NULL` where the platform's rows hold NULL."""
        if self.platform and element.tenancy.listed:
            return "1 = 1"
        if self.platform and element.tenancy.platform == "null":
            return self._own.process(element.column.is_(None), **kw)
        return self._own.process(element.column == SCOPE, **kw)

    def visit_table(self, table: Any, *args: Any, **kw: Any) -> Any:
        alias = kw.get("enclosing_alias")
        source = alias if alias is not None and alias.element is table else table
        if not (self._frames and source in self._frames[-1].vouched):
            raise GuardError(f"{table.name} stands where the guard has not looked.")
        if source is table:
            self._introduce(table.name, table)
        return self._own.visit_table(table, *args, **kw)

    def visit_cte(self, cte: CTE, *args: Any, **kw: Any) -> Any:
        if cte.name.lower() in METADATA.tables:
            raise GuardError(f"{cte.name} is a table's name, and can't be given to a CTE.")
        known = len(self._frames[-1].names)
        text = self._own.visit_cte(cte, *args, **kw)
        if text and kw.get("asfrom") and len(self._frames[-1].names) == known:
            # By its own name, and not by an alias that said so already. A recursive one names itself
            # within itself; SQLAlchemy refuses two of one name that are not the same.
            self._introduce(text, self._ctes.setdefault(text, cte))
        return text

    def get_render_as_alias_suffix(self, alias_name_text: str) -> Any:
        if self._frames:
            self._introduce(alias_name_text, None)
        return self._own.get_render_as_alias_suffix(alias_name_text)

    def _introduce(self, text: str, source: FromClause | None) -> None:
        """Refuse a name that already means something else here.

        A predicate on `x` says nothing once a second `x` stands nearer, and a CTE
        that is called like a table is read in that table's place.
        """
        name = text.strip('"').lower()
        if name in METADATA.tables and source is not METADATA.tables[name]:
            raise GuardError(f"{name} is a table's name, and can't be given to anything else.")
        here, *around = reversed(self._frames)
        for names in (here.inner, *(frame.names for frame in around)):
            if name in names and (source is None or names[name] is not source):
                raise GuardError(f"The name {name} is used twice: give each alias its own.")
        if name in here.names:
            raise GuardError(f"The name {name} is used twice: give each alias its own.")
        self._frames[-1].names[name] = source

    def visit_column(self, column: Any, *args: Any, **kw: Any) -> Any:
        guard.check_column(column)
        readable = self._frames[-1].readable if self._frames else set()
        if readable is not None:
            guard.check_vector(column, readable)
        return self._own.visit_column(column, *args, **kw)

    def visit_distance(self, element: Distance, **kw: Any) -> Any:
        """What the dialect makes of it, where it compares vectors of one model alone."""
        guard.check_vector(element.column, self._frames[-1].one_model)
        return self.render_distance(element, **kw)

    def render_distance(self, element: Distance, **kw: Any) -> str:  # noqa: ARG002 - the signature of those that can
        """Refused, but where a dialect can do it."""
        raise GuardError("This database compares no vectors: see Transaction.compares_vectors.")

    def visit_function(self, func: Any, *args: Any, **kw: Any) -> Any:
        guard.check_function(func)
        return self._own.visit_function(func, *args, **kw)

    def visit_bindparam(self, bindparam: Any, *args: Any, **kw: Any) -> Any:
        if bindparam.expanding or bindparam.literal_execute:
            raise GuardError("A list of values goes through one_of(), not through IN.")
        if RESERVED.get(bindparam.key, bindparam) is not bindparam:
            raise GuardError(f"The parameter {bindparam.key!r} is the transaction's own.")
        return self._own.visit_bindparam(bindparam, *args, **kw)

    def update_tables_clause(
        self, update_stmt: Update, from_table: Any, extra_froms: Any, **kw: Any
    ) -> Any:
        _refuse_more_tables(extra_froms)
        return self._own.update_tables_clause(update_stmt, from_table, extra_froms, **kw)

    def delete_table_clause(
        self, delete_stmt: Delete, from_table: Any, extra_froms: Any, **kw: Any
    ) -> Any:
        _refuse_more_tables(extra_froms)
        return self._own.delete_table_clause(delete_stmt, from_table, extra_froms, **kw)

    def _refuse_hint(self, *_: Any) -> Any:
        raise GuardError("Hints are raw SQL, which can't be checked.")

    get_select_hint_text = get_statement_hint_text = format_from_hint_text = _refuse_hint


class ScopedNames:
    """Goes before a dialect's own quoting among the bases of a class.

    A name that asks not to be quoted is raw SQL.
    """

    def quote(self, ident: str) -> str:
        if getattr(ident, "quote", None) is False or not ident.isidentifier():
            raise GuardError(f"The name {ident!r} is not a plain word in quotes.")
        own: Any = super()
        return str(own.quote(ident))


def _refuse_more_tables(extra: Any) -> None:
    if extra:
        raise GuardError("A write names one table; find its rows with a subquery.")
