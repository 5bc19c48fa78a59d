"""How LangGraph's tests look into its tables, as far as they do so by functions of their own: said of our tables."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import bindparam, select, update

from memoranda.access.roles import subject_of
from memoranda.graphs.holders import store as holders
from memoranda.graphs.items.matching import text_of
from memoranda.storage import Transaction
from memoranda.storage.tables import graph_channels, graph_checkpoints, graph_items, graph_writes

T = TypeVar("T")
i = graph_items.c
_ITEM = (
    i.holder_id == bindparam("holder"),
    i.namespace == bindparam("name"),
    i.key == bindparam("item"),
)
EXPIRES = select(i.expires_at).where(*_ITEM)
EXPIRE = update(graph_items).where(*_ITEM).values(expires_at=bindparam("until"))
AGE = update(graph_items).where(*_ITEM).values(updated_at=bindparam("then"))


async def _done(asked: Any, does: Callable[..., T], *given: Any) -> T:
    """Do it in the database of a store or saver, as its subject."""
    home = asked._home
    subject = subject_of(home.who, home.agent_id, home.user_id)

    def change(tx: Transaction) -> T:
        return does(tx, holders.make(tx, subject), *given)

    done: T = await home.run(home.memoranda.storage.write(subject.organization_id, change))
    return done


def _waited(asked: Any, does: Callable[..., T], *given: Any) -> T:
    done: T = asked._home.wait(_done(asked, does, *given))
    return done


def _expires(tx: Transaction, holder: Any, namespace: Any, key: str) -> list[datetime | None]:
    found = tx.all(EXPIRES, holder=holder, name=text_of(namespace), item=key)
    return [row.expires_at for row in found]


def _expire(tx: Transaction, holder: Any, namespace: Any, key: str) -> None:
    past = tx.now - timedelta(minutes=1)
    tx.run(EXPIRE, holder=holder, name=text_of(namespace), item=key, until=past)


def _age(tx: Transaction, holder: Any, seconds: float, name: str, key: str) -> None:
    then = tx.now - timedelta(seconds=seconds)
    tx.run(AGE, holder=holder, name=f"{name}.", item=key, then=then)


def age(store: Any, seconds: float, name: str, key: str) -> None:
    """Let an item be as old as its row says."""
    _waited(store, _age, seconds, name, key)


def expire_now(store: Any, namespace: Any, key: str) -> None:
    _waited(store, _expire, namespace, key)


def row_exists(store: Any, namespace: Any, key: str) -> bool:
    return bool(_waited(store, _expires, namespace, key))


def stored_expires_at(store: Any, namespace: Any, key: str) -> datetime | None:
    return _waited(store, _expires, namespace, key)[0]


async def aexpire_now(store: Any, namespace: Any, key: str) -> None:
    await _done(store, _expire, namespace, key)


async def arow_exists(store: Any, namespace: Any, key: str) -> bool:
    return bool(await _done(store, _expires, namespace, key))


async def astored_expires_at(store: Any, namespace: Any, key: str) -> datetime | None:
    return (await _done(store, _expires, namespace, key))[0]


async def of_thread(saver: Any, thread_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """A thread's rows by what they hold, in their order."""
    return await _done(saver, _rows, thread_id)


def _rows(tx: Transaction, holder: Any, thread_id: str) -> dict[str, list[tuple[Any, ...]]]:
    c, w, k = graph_checkpoints.c, graph_writes.c, graph_channels.c
    shown = {
        "checkpoints": (c.namespace, c.checkpoint_id),
        "writes": (w.namespace, w.checkpoint_id, w.task_id, w.number),
        "blobs": (k.namespace, k.channel, k.version),
    }
    found = {}
    for name, columns in shown.items():
        of = columns[0].table.c
        asked = select(*columns).where(
            of.holder_id == bindparam("holder"), of.thread_id == bindparam("thread")
        )
        rows = tx.all(asked.order_by(*columns), holder=holder, thread=thread_id)
        found[name] = [tuple(row) for row in rows]
    return found
