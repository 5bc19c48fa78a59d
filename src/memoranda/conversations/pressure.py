"""How full a model's window will be with the next request: computed from messages, never added up. Pure."""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from memoranda.conversations.calls import latest_turn
from memoranda.conversations.models import Message
from memoranda.conversations.sizes import total_bytes, total_tokens
from memoranda.words.errors import Invalid
from memoranda.words.tokens import Estimator

FULL_PERCENT: Final = 80
"""How much of a window may be used before earlier turns are to be compacted."""


class Pressure(BaseModel):
    """The tokens of the next request, its room for the answer included, beside the model's window.

    `share` is what both take of the window, and more than 1 where they do not fit. What past
    calls used is another matter: see usage.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_tokens: int
    room: int
    window: int
    share: float


def pressure(
    messages: Sequence[Message], *, room: int, window: int, estimator: Estimator
) -> Pressure:
    """What the next request weighs: these messages as input, and `room` tokens for the answer.

    Raises `Invalid` where the window is no number of tokens above 0, or the room is below 0.
    """
    if window < 1:
        raise Invalid("window is the model's number of tokens, 1 or more.", field="window")
    if room < 0:
        raise Invalid("room is the tokens that the answer may have, 0 or more.", field="room")
    tokens = total_tokens(messages, estimator)
    return Pressure(
        input_tokens=tokens, room=room, window=window, share=round((tokens + room) / window, 6)
    )


def is_full(found: Pressure) -> bool:
    """Whether earlier turns are to be compacted for the model's sake: from 0.8 of its window on."""
    return 100 * (found.input_tokens + found.room) >= FULL_PERCENT * found.window


def is_heavy(messages: Sequence[Message], budget: int) -> bool:
    """Whether it is earlier turns that keep the transcript over its bytes: the latest alone is within."""
    total = total_bytes(messages)
    if total <= budget:
        return False
    return total_bytes(messages[latest_turn(messages) :]) <= budget
