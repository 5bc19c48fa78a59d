"""What is misshapen is told in our words, and never with what was sent."""

from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from memoranda.words.fitting import EXAMPLE
from memoranda.words.shape import misshapen


class Box(BaseModel, extra="forbid", strict=True):
    """A value with one of everything."""

    count: int
    open: bool = True
    sides: list[str] = []
    notes: dict[str, object] = {}


class Cup(BaseModel):
    """One kind of two."""

    kind: Literal["cup"]


class Pot(BaseModel):
    """The other kind."""

    kind: Literal["pot"]


SENT = "sk-secret"
CASES: dict[str, tuple[Any, object, str]] = {
    "a missing field": (Box, {}, "This is missing; it has to be there."),
    "an unknown field": (Box, {"count": 1, "x": SENT}, "There is no such field; leave it out."),
    "a text for a number": (Box, {"count": SENT}, "This must be a whole number."),
    "a text for a flag": (Box, {"count": 1, "open": SENT}, "This must be true or false."),
    "a text for a list": (Box, {"count": 1, "sides": SENT}, "This must be a list."),
    "a text for an object": (Box, {"count": 1, "notes": SENT}, "This must be an object."),
    "a text for all of it": (Box, SENT, "This must be an object."),
    "a number for a text": (str, 3, "This must be a text."),
    "a number that is too small": (
        Annotated[int, Field(ge=1)],
        0,
        "This must be at least 1.",
    ),
    "a number that is too large": (Annotated[int, Field(le=9)], 10, "This must be at most 9."),
    "a word that is none of them": (
        Literal["a", "b"],
        SENT,
        "This must be one of 'a' or 'b'.",
    ),
    "a kind that there is none of": (
        Annotated[Cup | Pot, Field(discriminator="kind")],
        {"kind": SENT},
        "This names a kind that does not exist: the kinds are 'cup', 'pot'.",
    ),
    "no kind at all": (
        Annotated[Cup | Pot, Field(discriminator="kind")],
        {},
        "This must tell its kind in 'kind'.",
    ),
    "no id": (UUID, SENT, f"This must be an id, such as {EXAMPLE}."),
}


@pytest.mark.parametrize(("kind", "sent", "sentence"), CASES.values(), ids=CASES)
def test_each_fault_of_shape_has_its_sentence(kind: Any, sent: object, sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(sent)
    assert [misshapen(each) for each in caught.value.errors()] == [sentence]


def test_a_fault_without_a_sentence_of_ours_still_is_one() -> None:
    assert misshapen({"type": "other", "msg": "Value error, no tea"}) == "no tea."
