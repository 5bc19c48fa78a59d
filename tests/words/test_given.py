"""What a verb is given is held against its annotations before the verb runs."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import pytest

from memoranda import Memoranda
from memoranda.words.errors import Invalid
from memoranda.words.fitting import EXAMPLE
from memoranda.words.given import CALLER, checked, checks_shapes
from memoranda.words.ref import ResourceRef

ID = UUID("0190b5a0-0000-7000-8000-000000000001")


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


def taken(hint: Any, value: object) -> Any:
    """What a verb whose parameter has this annotation gets."""

    def verb(thing: object) -> object:
        return thing

    verb.__annotations__["thing"] = hint
    return checked(verb)(value)


def refused(hint: Any, value: object) -> Invalid:
    with pytest.raises(Invalid) as caught:
        taken(hint, value)
    return caught.value


def test_an_id_may_be_given_as_its_text() -> None:
    assert taken(UUID, str(ID)) == ID
    assert taken(UUID | None, str(ID)) == ID
    assert taken(Sequence[UUID], [str(ID), ID]) == [ID, ID]


def test_a_name_where_either_may_stand_stays_the_name_that_it_is() -> None:
    assert taken(UUID | str, str(ID)) == str(ID)
    assert taken(Level | str, "low") == "low"


def test_a_choice_may_be_given_as_its_word() -> None:
    assert taken(Level, "low") is Level.LOW
    assert refused(Level, "loud").message == "thing must be low or high and is 'loud'."


@pytest.mark.parametrize(
    ("hint", "value", "told"),
    [
        (UUID, "assistant", f"thing must be an id and is 'assistant'. An id looks like {EXAMPLE}."),
        (UUID | None, 5, "thing must be an id or None and is a whole number."),
        (int, True, "thing must be a whole number and is true or false."),
        (float, "5", "thing must be a number and is a text."),
        (bool, 1, "thing must be true or false and is a whole number."),
        (str, b"tea", "thing must be a text and is bytes."),
        (str, {"text": "tea"}, "thing must be a text and is a mapping."),
        (Sequence[str], "tea", "thing must be a list and is a text."),
        (Sequence[str], ResourceRef(kind="a", id="b"), "is of the type ResourceRef."),
        (list[str], ["tea", 5], "thing.1 must be a text and is a whole number."),
        (Mapping[str, UUID], {"ada": "x"}, "thing.ada must be an id and is 'x'."),
        (dict[str, Any], ["tea"], "thing must be a mapping and is a list."),
        (Sequence[ResourceRef], [{"kind": "a", "id": "b"}], "thing.0 must be of the type"),
        (Literal["a", "b"], "c", "thing must be a or b and is 'c'."),
        (Callable[[], None], "tea", "thing must be a function and is a text."),
        (str | bytes, 5, "thing must be a text or bytes and is a whole number."),
    ],
)
def test_what_does_not_fit_is_refused_by_name(hint: Any, value: object, told: str) -> None:
    error = refused(hint, value)
    assert told in error.message
    assert str(error.details["field"]).startswith("thing")


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "swordfish"),
        (Sequence[str], "swordfish"),
        (Callable[[], None], "swordfish"),
        (UUID, "swordfish" * 5),
        (Level, "swordfish" * 5),
        (UUID | None, b"swordfish"),
        (Level, f"AKIA{'Q7X2M5K3B6ZT4W5P'}"),
        (UUID, ""),
    ],
)
def test_only_a_short_text_is_quoted_where_an_id_or_a_choice_belongs_and_no_credential(
    hint: Any, value: str | bytes
) -> None:
    message = refused(hint, value).message
    assert ("swordfish" in message, "AKIA" in message) == (False, False)
    assert f"and is {'bytes' if isinstance(value, bytes) else 'a text'}." in message


def test_what_is_quoted_can_pass_for_nothing_else() -> None:
    assert "and is 'a b'." in refused(UUID, "a\n\x1b\u202eb").message


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (float, 5),
        (Sequence[str], ("a", "b")),
        (Sequence[str], {"a", "b"}),
        (tuple[str, int], ("a", 1)),
        (Any, object()),
        (object, object()),
        (Mapping[str, Any], {"a": object()}),
        (type(None), None),
    ],
)
def test_what_fits_is_handed_on_as_the_very_same(hint: Any, value: object) -> None:
    assert taken(hint, value) is value


def test_what_can_be_read_only_once_is_not_read_here() -> None:
    lines: Iterator[str] = iter(["a", "b"])
    assert taken(Sequence[str] | str, lines) is lines
    assert list(lines) == ["a", "b"]


async def test_a_verb_that_is_awaited_refuses_when_it_is_awaited() -> None:
    async def verb(*, agent_id: UUID) -> UUID:
        return agent_id

    late = checked(verb)(agent_id="assistant")  # type: ignore[arg-type] # that is the point
    with pytest.raises(Invalid, match=r"access\.agent finds the id"):
        await late


@checks_shapes
class Part:
    async def verb(self, who: str, count: int) -> int:
        return count

    def inner(self, count: int) -> int:
        return count

    def _hidden(self, who: str, count: int) -> int:
        return count


async def test_the_public_verbs_of_a_part_are_checked_and_no_others() -> None:
    part = Part()
    with pytest.raises(Invalid, match="count must be a whole number"):
        await part.verb("ada", "many")  # type: ignore[arg-type] # that is the point
    assert part.inner("many") == "many"  # type: ignore[arg-type, comparison-overlap] # takes nobody
    assert part._hidden("ada", "many") == "many"  # type: ignore[arg-type, comparison-overlap] # not public


async def test_every_verb_that_the_product_offers_is_checked(tmp_path: Path) -> None:
    async with Memoranda.open(str(tmp_path / "m.db")) as memoranda:
        unchecked = [
            f"{kind.__qualname__}.{name}"
            for kind in parts_of(memoranda)
            for name, verb in vars(kind).items()
            if not name.startswith("_") and inspect.isfunction(verb)
            if [*inspect.signature(verb).parameters, "", ""][1] == CALLER
            if not hasattr(verb, "__wrapped__")
        ]
    assert unchecked == []


def parts_of(whole: object) -> set[type]:
    """The classes of what stands under public names, and under those of these."""
    kinds: set[type] = set()
    level = [whole]
    while level:
        below = [
            part
            for each in level
            for name, part in getattr(each, "__dict__", {}).items()
            if not name.startswith("_") and type(part).__module__.startswith("memoranda.")
        ]
        level = [part for part in below if type(part) not in kinds]
        kinds |= {type(part) for part in level}
    return kinds
