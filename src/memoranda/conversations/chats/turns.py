"""An answer's turns as they are handed in: values, or plain JSON. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from memoranda.conversations.chats.models import AgentTurn
from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen


def read_turns(turns: Sequence[AgentTurn | Mapping[str, Any]]) -> list[AgentTurn]:
    """Each as the value that it is. Raises `Invalid`, which names the place."""
    return [
        _read(f"turns.{place}", each) if isinstance(each, Mapping) else each
        for place, each in enumerate(turns)
    ]


def _read(field: str, given: Mapping[str, Any]) -> AgentTurn:
    try:
        return AgentTurn.model_validate(dict(given))
    except ValidationError as error:
        found = error.errors()[0]
        place = ".".join([field, *map(str, found["loc"])])
        raise Invalid(f"{place}: {misshapen(found)}", field=place) from None
