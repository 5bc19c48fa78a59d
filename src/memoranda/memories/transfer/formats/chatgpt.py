"""ChatGPT: the list of saved memories, and what the model saved by `bio` in exported conversations. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.entry import Entry, Read, Unread
from memoranda.memories.transfer.fields import Object

RECIPIENT: Final = "bio"
"""To whom the model writes what it wants to have saved."""


def looks(value: object) -> bool:
    """Whether a document, or one line of it, is of ChatGPT."""
    if isinstance(value, list):
        return any(looks(each) for each in value[:20])
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("memories"), list):
        return any(_is_saved(each) for each in value["memories"][:20])
    return isinstance(value.get("mapping"), dict) or _is_saved(value)


def _is_saved(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("content"), str)
        and not {"value", "role", "metadata", "state", "kind"} & value.keys()
    )


def read(value: Any) -> Read:
    """Every memory of a document: of conversations what was saved in them, of a list its entries."""
    for number, found in enumerate(_found(value), 1):
        yield _entry(number, found)


def _found(value: Any) -> Iterator[object]:
    if isinstance(value, dict) and isinstance(value.get("memories"), list):
        value = value["memories"]
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict) and isinstance(each.get("mapping"), dict):
            yield from saved_in(each)
        elif not isinstance(each, dict) or "chat_messages" not in each:
            yield each


def saved_in(conversation: Object) -> Iterator[Object]:
    """The messages of a conversation by which the model saved something, in the order of their times."""
    nodes = (node for node in conversation["mapping"].values() if isinstance(node, dict))
    messages = [node["message"] for node in nodes if isinstance(node.get("message"), dict)]
    saved = [each for each in messages if each.get("recipient") == RECIPIENT]
    at = {id(each): fields.time(each.get("create_time")) for each in saved}
    yield from sorted(
        saved, key=lambda each: moment.timestamp() if (moment := at[id(each)]) else 0.0
    )


def _entry(line: int, found: object) -> Entry | Unread:
    if not isinstance(found, dict):
        return Unread(line, fields.INVALID, "This record is no object.")
    content = found.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    said = fields.text("\n".join(fields.texts(parts)))
    if said is None:
        return Unread(line, fields.INVALID, "content: There is no text in it.")
    at = fields.time(found.get("create_time")) or fields.time(found.get("created_at"))
    return Entry(line=line, text=said, created_at=at)
