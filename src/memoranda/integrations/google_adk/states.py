"""The state of sessions by its prefixes: the application's, the user's, the invocation's, or the session's own. Pure."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python

from memoranda.conversations.sessions.models import States
from memoranda.words.errors import Invalid

logger = logging.getLogger(__name__)

KNOWN: Final = (State.APP_PREFIX, State.USER_PREFIX)


def parted(state: Mapping[str, Any] | None) -> States:
    """The changes by whose they are, without those of the invocation, which nothing keeps.

    Raises `Invalid` for what is nested without an end, or names something by anything else than a text.
    """
    if not all(isinstance(key, str) for key in state or ()):
        raise Invalid("A state names its values by texts: give each key as one.", field="state")
    kept = {k: v for k, v in (state or {}).items() if not k.startswith(State.TEMP_PREFIX)}
    written = _written(kept)
    return States(
        application=_of(State.APP_PREFIX, written),
        person=_of(State.USER_PREFIX, written),
        session={k: v for k, v in written.items() if not k.startswith(KNOWN)},
    )


def joined(states: States) -> dict[str, Any]:
    """The one state that a session shows."""
    return {
        **states.session,
        **{f"{State.APP_PREFIX}{k}": v for k, v in states.application.items()},
        **{f"{State.USER_PREFIX}{k}": v for k, v in states.person.items()},
    }


def _of(prefix: str, state: Mapping[str, Any]) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


def _written(state: dict[str, Any]) -> dict[str, Any]:
    """The values as JSON has them: what it can't say is kept as the text that Python has for it, and a log says so."""
    try:
        said: dict[str, Any] = to_jsonable_python(state)
    except ValueError:  # which all of its refusals are
        with json_or_refused("state"):
            said = to_jsonable_python(state, fallback=as_text, bytes_mode="base64")
    with json_or_refused("state"):
        json.dumps(said, ensure_ascii=False).encode()
    return said


def as_text(value: Any) -> str:
    """What is kept of a value that JSON can't say; a log says so."""
    logger.warning("A session holds what JSON can't say, a %s: it is kept as text.", type(value))
    return str(value)


@contextmanager
def json_or_refused(field: str) -> Iterator[None]:
    """Raise `Invalid` where something can't be written as JSON at all."""
    try:
        yield
    except UnicodeEncodeError:
        raise Invalid(
            f"The {field} holds half of a surrogate pair, which is no character: send whole characters.",
            field=field,
        ) from None
    except ValueError:
        raise Invalid(
            f"The {field} is nested too deeply, or holds itself: keep it flat.", field=field
        ) from None
