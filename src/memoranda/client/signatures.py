"""What a client's verb looks like to whoever asks for help: the call's parameters, and what it answers. Pure."""

from collections.abc import Callable
from functools import cache, update_wrapper
from inspect import Signature, signature, unwrap
from types import FunctionType
from typing import Any, TypeVar, cast, get_args

from memoranda.words.given import checked

V = TypeVar("V", bound=Callable[..., Any])


def named(make: V, room: type, name: str) -> V:
    """The same call, which refuses what it takes not, and Python's own errors too name the verb that a caller knows."""
    real = unwrap(make)
    if not isinstance(real, FunctionType):
        raise TypeError("A call is described by a function.")
    made = FunctionType(
        real.__code__, real.__globals__, real.__name__, real.__defaults__, real.__closure__
    )
    update_wrapper(made, real)
    del made.__dict__["__wrapped__"]  # it is what is called itself
    made.__kwdefaults__ = real.__kwdefaults__
    made.__qualname__ = f"{room.__name__}.{name}"
    return checked(cast("V", made))


def shown_as(verb: V, make: Callable[..., Any], answers: object = None) -> V:
    """The verb, told as the call that it makes; it answers what the call does, or else `answers`."""
    update_wrapper(verb, make)
    verb.__name__ = make.__qualname__.rpartition(".")[2]
    verb.__dict__["__signature__"] = _signature_of(make, answers)
    return verb


@cache
def _signature_of(make: Callable[..., Any], answers: object) -> Signature:
    made = signature(make)
    (answer,) = get_args(made.return_annotation)
    return made.replace(return_annotation=answer if answers is None else answers)
