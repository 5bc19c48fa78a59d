"""The one row of a scope that says which model's vectors answer searches.

Whatever changes what is found by meaning takes this row last in its transaction (`turn`) and holds it
to the commit. So of a flip and of a document that is opened, one sees what the other did.
"""

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, false, select, update

from memoranda.storage import Transaction, insert_or_ignore
from memoranda.storage.scope import NIL
from memoranda.storage.signals import KNOWLEDGE_VECTORS, signal
from memoranda.storage.tables import knowledge_settings, knowledge_sources

_OF = knowledge_settings.c
_NEXT = _OF.next_embedding_model
_HERE = knowledge_settings.c.scope_id == bindparam("in_scope")
_ROW = (_OF.active_embedding_model, _NEXT, _OF.forced, _OF.changes)

NOW: Final = select(*_ROW).where(_HERE)
ADD: Final = insert_or_ignore(knowledge_settings)
TURN: Final = update(knowledge_settings).where(_HERE).values(changes=_OF.changes + 1)
TURN_AND_TELL: Final = TURN.returning(*_ROW)
STILL: Final = update(knowledge_settings).where(_HERE).values(changes=_OF.changes).returning(*_ROW)
FLIP: Final = TURN.where(bindparam("to_model") == _NEXT).values(
    active_embedding_model=bindparam("to_model"),
    next_embedding_model=None,
    forced=false(),
    since=bindparam("now"),
)
CHOOSE: Final = TURN.values(
    active_embedding_model=bindparam("to_model"),
    next_embedding_model=bindparam("then_model"),
    forced=bindparam("by_force"),
    since=bindparam("now"),
)
ANY_READY: Final = (
    select(knowledge_sources.c.id).where(knowledge_sources.c.status == "ready").limit(1)
)


class Active(NamedTuple):
    """The model that serves and the one that is to; None for words alone, and for no switch under way.

    `forced` says that a source which fails under the next model does not keep it from serving.
    """

    model: str | None
    next: str | None
    forced: bool
    changes: int

    @property
    def wanted(self) -> tuple[str, ...]:
        """The models that every source is to have vectors of, the one that serves first."""
        return tuple(model for model in (self.model, self.next) if model is not None)


class ModelsMoved(Exception):
    """A model is wanted that the document has no vectors of yet: it was chosen meanwhile."""


def now(tx: Transaction) -> Active | None:
    """Return what serves; None where nobody has chosen yet."""
    row = tx.one(NOW, in_scope=_scope(tx))
    return None if row is None else Active(*row)


def turn(tx: Transaction) -> Active | None:
    """Say that something changes what is found by meaning, and hold the row to the commit."""
    row = tx.one(TURN_AND_TELL, in_scope=_scope(tx))
    return None if row is None else Active(*row)


def pass_turn(tx: Transaction) -> None:
    """`turn`, where nobody needs to know what serves."""
    tx.send(TURN, in_scope=_scope(tx))


def still(tx: Transaction) -> tuple[str, ...]:
    """Hold the row to the commit, and return the models that are wanted; nothing has changed."""
    row = tx.one(STILL, in_scope=_scope(tx))
    return () if row is None else Active(*row).wanted


def adopt(tx: Transaction, model: str) -> Active:
    """Let a scope that nobody chose for take the configured model.

    At once where there is no document yet; else by a switch from words alone, which a document
    that the model refuses does not hold up: it is found by its words, as before.
    """
    known = now(tx)
    if known is not None:
        return known
    there = any_ready(tx)
    _add(tx, None if there else model, model if there else None)
    signal(tx, KNOWLEDGE_VECTORS)
    adopted = now(tx)
    return adopted or Active(None, None, forced=False, changes=0)


def any_ready(tx: Transaction) -> bool:
    """Whether the scope has a document that is searched."""
    return tx.one(ANY_READY) is not None


def hold(tx: Transaction) -> Active:
    """Hold the scope's row to the commit, and return what serves; the row is made where there is none."""
    _add(tx, None, None)
    held = turn(tx)
    return held or Active(None, None, forced=False, changes=0)


def choose(tx: Transaction, active: str | None, to: str | None, *, forced: bool = False) -> None:
    """Set both models of a row that is held (`hold`), in one change of it."""
    tx.run(
        CHOOSE,
        in_scope=_scope(tx),
        to_model=active,
        then_model=to,
        by_force=forced,
        now=tx.now,
    )
    signal(tx, KNOWLEDGE_VECTORS)


def flip(tx: Transaction, to: str) -> bool:
    """Let the next model serve, in one change of one row; False where another is next by now."""
    return tx.run(FLIP, in_scope=_scope(tx), to_model=to, now=tx.now) == 1


def _add(tx: Transaction, active: str | None, to: str | None) -> None:
    tx.run(
        ADD,
        scope_id=_scope(tx),
        active_embedding_model=active,
        next_embedding_model=to,
        forced=to is not None,
        since=tx.now,
    )


def _scope(tx: Transaction) -> UUID:
    return tx.scope if isinstance(tx.scope, UUID) else NIL
