"""Every public verb, asynchronous or not, tells a wrong shape by the field that it stands in."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints
from uuid import UUID

import pytest

from memoranda import sync
from memoranda.app import Memoranda
from memoranda.sync.opened import Opened, Room
from memoranda.words.errors import Invalid, MemorandaError
from memoranda.words.fitting import Misfit, reading

WRONG = (object(), {"id": "ada"}, ["ada"], "a slug", 5, b"ada", 1.5, True, None)
LEAST_VERBS = 100


def verbs_of(part: object, met: set[int] | None = None) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public verb below an opened Memoranda: what takes the caller first."""
    met = set() if met is None else met
    for name, below in getattr(part, "__dict__", {}).items():
        kind = type(below)
        if name.startswith("_") or id(below) in met or not kind.__module__.startswith("memoranda."):
            continue
        met.add(id(below))
        for called, member in inspect.getmembers(kind, inspect.isfunction):
            if not called.startswith("_") and "who" in inspect.signature(member).parameters:
                yield f"{kind.__name__}.{called}", getattr(below, called)
        yield from verbs_of(below, met)


def wrong_for(hint: Any) -> list[object]:
    """Of some wrong values those that this annotation has no room for."""
    read = reading(hint)
    return [] if read is None else [each for each in WRONG if not _fits(read, each)]


def _fits(read: Callable[[object], object], value: object) -> bool:
    try:
        read(value)
    except Misfit:
        return False
    return True


async def _done(verb: Callable[..., Any], **given: object) -> None:
    done = verb(**given)
    if inspect.isawaitable(done):
        await done


async def _check(name: str, verb: Callable[..., Any], **right: object) -> int:
    refusals = 0
    hints = get_type_hints(inspect.unwrap(verb))
    for field in inspect.signature(verb).parameters:
        for wrong in wrong_for(hints.get(field, Any)):
            with pytest.raises(Invalid) as caught:
                await _done(verb, **{**right, field: wrong})
            assert str(caught.value.details["field"]).partition(".")[0] == field, name
            refusals += 1
    return refusals


async def test_each_verb_refuses_each_wrong_shape_and_names_the_field(database_url: str) -> None:
    async with Memoranda.open(database_url) as memoranda:
        refusals = [
            await _check(name, verb, who=memoranda.owner) for name, verb in verbs_of(memoranda)
        ]
    assert len(refusals) > LEAST_VERBS
    assert all(refusals)


async def test_each_synchronous_verb_does_too() -> None:
    face = sync.Memoranda("never-opened.db")
    rooms = [each for each in vars(face).values() if isinstance(each, Room)]
    checked = 0
    for part in (face, *rooms):
        assert isinstance(part, Opened | Room)
        for name, verb in inspect.getmembers(part, inspect.ismethod):
            if not name.startswith("_"):
                checked += await _check(name, verb)
    assert checked > LEAST_VERBS


async def test_a_slug_where_an_id_belongs_is_told_how_to_find_the_id(database_url: str) -> None:
    async with Memoranda.open(database_url) as memoranda:
        agent = await memoranda.access.create_agent(memoranda.owner, "assistant")
        with pytest.raises(Invalid, match=r"access\.agent finds the id.*`memoranda\.agent`"):
            await memoranda.runs.create(memoranda.owner, agent_id="assistant")  # type: ignore[arg-type] # that is the point
        as_text: Any = str(agent.id)
        run = await memoranda.runs.create(memoranda.owner, agent_id=as_text)
        assert run.agent_id == agent.id
        assert isinstance(run.agent_id, UUID)


async def test_what_is_no_place_of_a_database_is_refused_when_it_is_opened() -> None:
    with pytest.raises(MemorandaError, match="url must be a text or None"):
        async with Memoranda.open(5):  # type: ignore[arg-type] # that is the point
            raise AssertionError("It was opened.")


async def test_whatever_a_model_calls_is_answered_and_no_slip_of_the_program(
    database_url: str,
) -> None:
    names: list[Any] = [None, 3, ["remember"], {"name": "remember"}, "nothing"]
    async with Memoranda.open(database_url) as memoranda:
        for name in names:
            done = await memoranda.tools.call(memoranda.owner, name, {})
            assert done.refusal is not None
            assert done.refusal.code == "unknown_tool"
        wrong: list[Any] = [None, [], "text", {"content": 5}]
        for arguments in wrong:
            done = await memoranda.tools.call(memoranda.owner, "remember", arguments)
            assert done.refusal is not None
            assert done.refusal.code == "invalid_input"
