"""Holds what a caller hands to a verb against the verb's own annotations: a wrong shape is refused by name."""

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from typing import Any, Final, TypeVar

from memoranda.words.errors import Invalid
from memoranda.words.fitting import EXAMPLE, Misfit, Read, reading, told

Verb = TypeVar("Verb", bound=Callable[..., Any])
Kind = TypeVar("Kind", bound=type)
CALLER: Final = "who"
"""The parameter by which a public verb is known: in whose name it is called."""
ADVICE: Final[Mapping[str, str]] = {
    "agent_id": "access.agent finds the id of an agent by its slug or external id, in a script "
    "`memoranda.agent`.",
    "user_id": "access.user finds the id of a user by its external id, in a script `memoranda.user`.",
    "memoranda": "`async with memoranda.Memoranda.open(…)` gives the asynchronous one, and `with "
    "memoranda.sync.Memoranda(…)` a script's.",
    CALLER: "The owner of the default organization is `owner` of the opened Memoranda.",
}


def checked(verb: Verb) -> Verb:
    """`verb`, which refuses what is not of the shape that its parameters state.

    An id may be given as its text, and a choice as its word: the verb gets the id and the choice.
    Raises `Invalid`, which names the field and says what belongs there.
    """
    shapes = _Shapes(verb)

    @wraps(verb)
    def refusing(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = shapes.read(args, kwargs)
        return verb(*args, **kwargs)

    @wraps(verb)
    async def refusing_later(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = shapes.read(args, kwargs)
        return await verb(*args, **kwargs)

    made: Any = refusing_later if inspect.iscoroutinefunction(verb) else refusing
    return typing.cast("Verb", made)


def check_verbs(kind: type, *, called_by: str | None = None) -> None:
    """Let the public verbs of a class check what they are given; doing it again changes nothing.

    With `called_by`, only those whose first parameter has that name.
    """
    for name, member in list(vars(kind).items()):
        if name.startswith("_") or not inspect.isfunction(member) or hasattr(member, "__wrapped__"):
            continue
        first = [*inspect.signature(member).parameters, "", ""][1]
        if called_by in {None, first}:
            setattr(kind, name, checked(member))


def checks_shapes(kind: Kind) -> Kind:
    """Let each public verb of a class that takes whoever calls it first, as `who`, check what it is given."""
    check_verbs(kind, called_by=CALLER)
    return kind


class _Shapes:
    """The parameters of one verb, each with what reads it; its annotations are looked at when it is first called."""

    def __init__(self, verb: Callable[..., Any]) -> None:
        self._verb = verb

    def read(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        reads = self._reads
        given = [
            _read(name, reads.get(name), each)
            for name, each in zip(self._names, args, strict=False)
        ]
        named = {name: _read(name, reads.get(name), each) for name, each in kwargs.items()}
        # More than there are parameters for is Python's own to refuse.
        return (*given, *args[len(given) :]), named

    @cached_property
    def _names(self) -> list[str]:
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = inspect.signature(self._verb).parameters.values()
        return [each.name for each in parameters if each.kind in by_place]

    @cached_property
    def _reads(self) -> dict[str, Read]:
        hints = typing.get_type_hints(self._verb)
        parameters = inspect.signature(self._verb).parameters.values()
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        known = [each.name for each in parameters if each.kind not in several]
        reads = {name: reading(hints[name]) for name in known if name in hints}
        return {name: read for name, read in reads.items() if read is not None}


def _read(field: str, read: Read | None, value: Any) -> Any:
    if read is None:
        return value
    try:
        return read(value)
    except Misfit as misfit:
        at = f"{field}{misfit.path}"
        sentences = [
            f"{at} must be {misfit.wanted} and is {told(misfit)}.",
            f"An id looks like {EXAMPLE}." if misfit.is_of_id else "",
            ADVICE.get(field, ""),
        ]
        raise Invalid(" ".join(filter(None, sentences)), field=at) from None
