"""What a client's verb looks like to whoever asks for help: the call's parameters, and what it answers. Pure."""

from collections.abc import Callable
from functools import cache, update_wrapper
from inspect import Signature, signature
from typing import Any, TypeVar, get_args

V = TypeVar("V", bound=Callable[..., Any])


def shown_as(verb: V, make: Callable[..., Any], answers: object = None) -> V:
    """The verb, told as the call that it makes; it answers what the call does, or else `answers`."""
    update_wrapper(verb, make)
    verb.__dict__["__signature__"] = _signature_of(make, answers)
    return verb


@cache
def _signature_of(make: Callable[..., Any], answers: object) -> Signature:
    made = signature(make)
    (answer,) = get_args(made.return_annotation)
    return made.replace(return_annotation=answer if answers is None else answers)
