"""The state of sessions by its prefixes: the application's, the user's, the invocation's, or the session's own. Pure."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from google.adk.sessions.state import State
from pydantic_core import PydanticSerializationError, to_jsonable_python

from memoranda.conversations.sessions.models import States

logger = logging.getLogger(__name__)

KNOWN: Final = (State.APP_PREFIX, State.USER_PREFIX)


def parted(state: Mapping[str, Any] | None) -> States:
    """The changes by whose they are, without those of the invocation, which nothing keeps."""
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
    except PydanticSerializationError:
        logger.warning("A session's state holds what JSON can't say: it is kept as text.")
        said = to_jsonable_python(state, fallback=str)
    return said
