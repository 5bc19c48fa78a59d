"""Reads the values of an annotation: an id of its text, a choice of its word, and nothing else as what it is not."""

import io
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from numbers import Integral, Real
from typing import Any, Final
from uuid import UUID

from memoranda.words.said import quoted

Read = Callable[[object], Any]
"""The value as a verb gets it. Raises `Misfit`."""

EXAMPLE: Final = "0190b5a0-0000-7000-8000-000000000001"
"""What an id looks like."""
NOTHING: Final = "None"
_OR: Final = " or "
FEW: Final = 2
NAMES: Final[Mapping[type, str]] = {
    UUID: "an id",
    bool: "true or false",
    bytes: "bytes",
    datetime: "a datetime",
    dict: "a mapping",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "a text",
    timedelta: "a timedelta",
    type(None): NOTHING,
}


LISTS: Final = frozenset({list, tuple, set, frozenset, Sequence, Iterable, Collection})


class Misfit(Exception):
    """A value is not of its shape: where within it, what belongs there, and what is there.

    It may be `spelled` where an id or a choice belongs, which a text can be: then what the text says helps.
    """

    def __init__(
        self, wanted: str, value: object, path: str = "", *, spelled: bool = False
    ) -> None:
        super().__init__(wanted)
        self.wanted, self.value, self.path, self.spelled = wanted, value, path, spelled

    @property
    def is_of_id(self) -> bool:
        """Whether an id would have fitted."""
        return NAMES[UUID] in self.wanted.split(_OR)

    def within(self, place: object) -> "Misfit":
        """The same, seen from what holds the value at `place`."""
        return Misfit(self.wanted, self.value, f".{place}{self.path}", spelled=self.spelled)


def reading(hint: Any) -> Read | None:
    """What reads values of an annotation; None where anything goes."""
    origin, within = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return _any_of(within)
    if origin is typing.Literal:
        return _one_of(within)
    if origin is Callable:
        return _callable
    if hint is typing.BinaryIO:
        return _open_file
    kind = type(None) if hint is None else origin or hint
    if not isinstance(kind, type) or kind in {object, Any} or getattr(kind, "_is_protocol", False):
        return None
    return _of_class(kind, within)


def _of_class(kind: type, within: tuple[Any, ...]) -> Read:
    if issubclass(kind, Mapping):
        return _mapping(within)
    return _several(_items(kind, within)) if kind in LISTS else _plain(kind)


def _items(kind: type, within: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a list's annotation says of its items; of a tuple with places of its own nothing."""
    return () if kind is tuple and within[1:] != (Ellipsis,) else within


def _plain(kind: type) -> Read:
    if kind is UUID:
        return _id
    if issubclass(kind, Enum):
        return _choice(kind)
    wanted = NAMES.get(kind, f"of the type {kind.__name__}")
    fits: Any = {int: Integral, float: Real}.get(kind, kind)

    def read(value: object) -> object:
        if type(value) is kind:
            return value
        if not isinstance(value, fits) or (isinstance(value, bool) and fits in {Integral, Real}):
            # Of two that have one name, the module tells which is meant.
            meant = f"{kind.__module__}.{kind.__name__}"
            raise Misfit(wanted if called(value) != wanted else f"of the type {meant}", value)
        return value

    return read


def _id(value: object) -> UUID:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value) if isinstance(value, str) else UUID("")
    except ValueError:
        raise Misfit(NAMES[UUID], value, spelled=True) from None


def _one(choices: Iterable[object]) -> str:
    """The choices in words, as `choice_input` tells them."""
    names = [str(each.value if isinstance(each, Enum) else each) for each in choices]
    return _OR.join(names) if len(names) <= FEW else f"one of {', '.join(names)}"


def _choice(kind: type[Enum]) -> Read:
    wanted = _one(kind)

    def read(value: object) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise Misfit(wanted, value, spelled=True) from None

    return read


def _one_of(choices: tuple[Any, ...]) -> Read:
    wanted = _one(choices)

    def read(value: object) -> object:
        if not any(type(value) is type(each) and value == each for each in choices):
            raise Misfit(wanted, value, spelled=True)
        return value

    return read


def _callable(value: object) -> object:
    if not callable(value):
        raise Misfit("a function", value)
    return value


def _open_file(value: object) -> object:
    # A temporary file wraps the one that is read.
    texts = isinstance(value, io.TextIOBase) or isinstance(
        getattr(value, "file", None), io.TextIOBase
    )
    if texts or not callable(getattr(value, "read", None)):
        raise Misfit("a file that is open in binary", value)
    return value


def _any_of(hints: tuple[Any, ...]) -> Read | None:
    # What is of a shape already is that, before it is read as what is spelled so.
    reads = [reading(hint) for hint in sorted(hints, key=_is_spelled)]
    if None in reads:
        return None
    known = [read for read in reads if read is not None]

    def read(value: object) -> object:
        misfits = []
        for each in known:
            try:
                return each(value)
            except Misfit as misfit:
                misfits.append(misfit)
        within = [misfit for misfit in misfits if misfit.path]
        wanted = dict.fromkeys(sorted((each.wanted for each in misfits), key=NOTHING.__eq__))
        if within:
            raise within[0]
        spelled = any(misfit.spelled for misfit in misfits)
        raise Misfit(_OR.join(wanted), value, spelled=spelled)

    return read


def _is_spelled(hint: object) -> bool:
    """Whether a text may stand for such a value."""
    return isinstance(hint, type) and (hint is UUID or issubclass(hint, Enum))


def _several(within: tuple[Any, ...]) -> Read:
    item = reading(within[0]) if within else None

    def read(value: object) -> object:
        alone = isinstance(value, str | bytes | Mapping) or hasattr(type(value), "model_fields")
        if alone or not isinstance(value, Iterable):
            raise Misfit("a list", value)
        if item is None or not isinstance(value, list | tuple | set | frozenset):
            return value  # what can be read only once is left to whom it is for
        items = [_at(place, item, each) for place, each in enumerate(value)]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return tuple(items) if isinstance(value, tuple) else type(value)(items)

    return read


def _mapping(within: tuple[Any, ...]) -> Read:
    item = reading(within[1]) if within else None

    def read(value: object) -> object:
        if not isinstance(value, Mapping):
            raise Misfit("a mapping", value)
        if item is None:
            return value
        items = {name: _at(name, item, each) for name, each in value.items()}
        return value if all(items[name] is each for name, each in value.items()) else items

    return read


def _at(place: object, item: Read, value: object) -> object:
    try:
        return item(value)
    except Misfit as misfit:
        raise misfit.within(place) from None


def told(misfit: Misfit) -> str:
    """What is there in the place of what belongs there: of an id or a choice what it says, where that is short.

    A text that looks like a credential, and any that may be something else altogether, is told as what it is alone.
    """
    value = misfit.value
    text = (
        value if misfit.spelled and isinstance(value, str) and not isinstance(value, Enum) else ""
    )
    return quoted(text) or called(value)


def called(value: object) -> str:
    """What a value is, and nothing of what it says."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return "a text"
    if isinstance(value, Mapping):
        return "a mapping"
    return NAMES.get(type(value), f"of the type {type(value).__name__}")
