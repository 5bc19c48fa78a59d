"""The values of usage: what one call used, and totals of many."""

from datetime import datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memoranda.words.errors import Invalid
from memoranda.words.inputs import text_input

UsageKind = Literal["call", "compaction"]
MOST: Final = 2**40
"""The largest number of one row: millions of such rows still add up."""
Count = Annotated[int, Field(ge=0, le=MOST)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallUsage(_Value):
    """What one call of a provider used. `cached_tokens` are those of the input that came from its cache.

    `cost_micros` is the price in millionths of the currency that the host counts in. Two records with
    the same `call_id` are one call.
    """

    provider: str
    model: str
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    cost_micros: Count = 0
    call_id: str | None = None


class RecordedUsage(CallUsage):
    """A call's usage as it was recorded; never changed after."""

    id: UUID
    kind: UsageKind
    conversation_id: UUID
    created_at: datetime


class UsageTotal(_Value):
    """What all calls of one kind to one model used together."""

    kind: UsageKind
    provider: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_micros: int


class Usage(_Value):
    """Lifetime totals, and of what they are made. They only grow: they say nothing of the next request."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_micros: int
    totals: list[UsageTotal]


def checked_usage(usage: CallUsage) -> CallUsage:
    """The usage with names that can be stored; `Invalid` for a value that was made past its checks."""
    try:
        made = CallUsage.model_validate(dict(usage))
    except (ValidationError, TypeError, ValueError):
        raise Invalid(
            "usage counts tokens and millionths of a currency from 0 on.", field="usage"
        ) from None
    names = {name: text_input(name, getattr(made, name)) for name in ("provider", "model")}
    if made.call_id is not None:
        names["call_id"] = text_input("call_id", made.call_id)
    return made.model_copy(update=names)
