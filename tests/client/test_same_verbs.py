"""A chat's verbs are called alike in a script and over HTTP: the same names, and the same arguments in the same order."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from memoranda import sync
from memoranda.client import Client
from memoranda.client.blocking.verbs import Room

OTHER_NAMES = {"run": "get", "runs": "list"}
"""What a script's one room calls otherwise than the client's room of runs."""
VERBS = [
    name
    for name, _ in inspect.getmembers(sync.Memoranda("never-opened.db").chats, inspect.ismethod)
    if not name.startswith("_")
]


def arguments(verb: Callable[..., Any]) -> tuple[list[str], set[str], set[str]]:
    """Those that have a place, in their order; by name alone; and those that may be left out."""
    parameters = inspect.signature(verb).parameters.values()
    by_name = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    placed = [each.name for each in parameters if each.name not in by_name]
    return placed, by_name, {each.name for each in parameters if each.default is not each.empty}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_of_chats_is_the_same_for_a_script_and_for_a_client(name: str) -> None:
    script = getattr(sync.Memoranda("never-opened.db").chats, name)
    with Client("http://never.test") as client:
        there = getattr(client.chats, name, None) if name not in OTHER_NAMES else None
        verb = there or getattr(client.chat_runs, OTHER_NAMES.get(name, name))
        assert arguments(verb) == arguments(script)


def test_there_are_verbs_to_compare() -> None:
    assert {"edit", "emit", "note", "rate", "run", "answer"} <= set(VERBS)


ROOMS = [room for room in vars(Client("http://never.test")).values() if isinstance(room, Room)]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: type(room).__name__)
def test_what_no_verb_takes_is_refused_under_the_name_that_its_caller_knows(
    room: Room,
) -> None:
    for name in vars(type(room)):
        verb = getattr(room, name)
        if name.startswith("_") or not callable(verb):
            continue
        assert verb.__name__ == name
        with pytest.raises(TypeError) as refused:
            next(iter(verb(no_such_argument=1)))
        assert str(refused.value).startswith(f"{type(room).__name__}.{name}() ")
