"""mem0: what `get_all`, `search`, exports and OpenMemory's backup give. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.entry import Entry, Named, Passed, Read, Unread
from memoranda.memories.transfer.fields import Object

LISTS: Final = ("results", "memories")
GONE: Final = frozenset({"deleted", "archived"})
"""States in which OpenMemory keeps what is not to be recalled."""


def looks(value: object) -> bool:
    """Whether a document, or one line of it, is mem0's."""
    if isinstance(value, list):
        return any(looks(each) for each in value[:20])
    if not isinstance(value, dict):
        return False
    if any(_held(value, name) for name in LISTS):
        return True
    return isinstance(value.get("memory"), str) or _is_backup(value)


def _held(value: Object, name: str) -> bool:
    listed = value.get(name)
    return isinstance(listed, list) and (
        not listed or any(isinstance(each, dict) and looks(each) for each in listed[:20])
    )


def _is_backup(value: Object) -> bool:
    """A line of OpenMemory's backup: its text is called content, and there is a state."""
    return isinstance(value.get("content"), str) and "state" in value and "metadata" in value


def read(value: Any) -> Read:
    """Every memory of a document: a list, one page or several, with or without an envelope."""
    for number, (record, owner) in enumerate(_records(value, None), 1):
        yield record_of(number, record, owner)


def _records(value: Any, owner: str | None) -> Iterator[tuple[object, str | None]]:
    if isinstance(value, list):
        for each in value:
            yield from _records(each, owner)
        return
    listed = next(
        (value[name] for name in LISTS if isinstance(value, dict) and name in value), None
    )
    if isinstance(listed, list) and not text_of(value):
        yield from ((each, _owner(value) or owner) for each in listed)
    else:
        yield value, owner


def _owner(value: Object) -> str | None:
    """Whose backup it is: its memories name their user by an id of OpenMemory's own."""
    user = value.get("user")
    return fields.name(user.get("user_id")) if isinstance(user, dict) else None


def text_of(value: object) -> str | None:
    """What a record says."""
    if not isinstance(value, dict):
        return None
    found = (value.get(name) for name in ("memory", "content", "text", "data"))
    return next((each for each in map(fields.text, found) if each), None)


def record_of(line: int, value: object, owner: str | None = None) -> Entry | Unread | Passed:
    """The entry of one record."""
    if not isinstance(value, dict):
        return Unread(line, fields.INVALID, "This record is no object.")
    if fields.text(value.get("state")) in GONE:
        return Passed(line, str(fields.text(value.get("state"))))
    said = text_of(value)
    if said is None:
        return Unread(line, fields.INVALID, "memory: There is no text in this record.")
    expiry = value.get("expiration_date")
    if expiry is not None and fields.time(expiry) is None:
        return Unread(line, fields.INVALID, "expiration_date: This is no time.")
    categories = _categories(value)
    user = owner or fields.name(value.get("user_id"))
    agent = fields.name(value.get("agent_id"))
    return Entry(
        line=line,
        text=said,
        category=next(iter(categories), None),
        tags=categories[1:],
        expires_at=fields.time(expiry),
        user=Named(user, (user,)) if user else None,
        agent=Named(agent, (agent,)) if agent else None,
        created_at=fields.time(value.get("created_at")) or fields.time(value.get("updated_at")),
    )


def _categories(value: Object) -> tuple[str, ...]:
    """The categories; without any, the one that programs commonly put into the metadata."""
    metadata = value.get("metadata")
    within = metadata.get("category") if isinstance(metadata, dict) else None
    return fields.texts(value.get("categories")) or fields.texts(within)
