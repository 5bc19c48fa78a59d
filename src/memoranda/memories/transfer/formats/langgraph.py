"""LangGraph's store: items of its API, of `Item.dict()`, and rows of its `store` table. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.entry import Entry, Read, Unread
from memoranda.memories.transfer.fields import Object

TEXTS: Final = ("content", "text", "memory", "data", "fact")
"""Where an item's text is, the first that there is."""
GENERAL: Final = frozenset(
    {
        "memories",
        "memory",
        "store",
        "users",
        "user",
        "agents",
        "agent",
        "facts",
        "profile",
        "profiles",
    }
)
"""Labels of a namespace that say what is in it, and not whose it is."""


def looks(value: object) -> bool:
    """Whether a document, or one line of it, is a dump of a store."""
    if isinstance(value, list):
        return any(looks(each) for each in value[:20])
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("items"), list):
        return not value["items"] or looks(value["items"])
    return "value" in value and ("namespace" in value or "prefix" in value)


def read(value: Any) -> Read:
    """Every item of a document."""
    for number, item in enumerate(_items(value), 1):
        yield item_of(number, item)


def _items(value: Any) -> Iterator[object]:
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        value = value["items"]
    if not isinstance(value, list):
        yield value
        return
    for each in value:
        yield from _items(each) if isinstance(each, list) else (each,)


def item_of(line: int, item: object) -> Entry | Unread:
    """The entry of one item or row."""
    if not isinstance(item, dict):
        return Unread(line, fields.INVALID, "This item is no object.")
    labels = _namespace(item)
    if labels is None:
        return Unread(line, fields.INVALID, "namespace: This must be a list of texts.")
    value = fields.inner_json(item.get("value"))
    said, how = _said(value)
    if said is None:
        return Unread(line, fields.INVALID, "value: There is no text in it.")
    expiry = item.get("expires_at")
    if expiry is not None and fields.time(expiry) is None:
        return Unread(line, fields.INVALID, "expires_at: This is no time.")
    kind = fields.text(value.get("kind")) if isinstance(value, dict) else None
    return Entry(
        line=line,
        text=said,
        category=None if kind == "Memory" else kind,
        expires_at=fields.time(expiry),
        labels=tuple(each for each in labels if each.casefold() not in GENERAL),
        created_at=fields.time(item.get("created_at")) or fields.time(item.get("updated_at")),
        how=how,
    )


def _namespace(item: Object) -> tuple[str, ...] | None:
    named = item.get("namespace", item.get("prefix"))
    if isinstance(named, str):
        return tuple(filter(None, named.split(".")))
    if isinstance(named, list) and all(isinstance(each, str) for each in named):
        return tuple(named)
    return None


def _said(value: object, *, outer: bool = True) -> tuple[str | None, tuple[str, ...]]:
    """What a value says: its text, its nested one, or else its fields one below the other."""
    if isinstance(value, str):
        return fields.text(value), ()
    if not isinstance(value, dict):
        return None, ()
    for name in TEXTS:
        each = value.get(name)
        if fields.text(each):
            return fields.text(each), ()
        if outer and isinstance(each, dict):
            return _said(each, outer=False)
    return fields.spelled_out(value), ("spelled_out",)
