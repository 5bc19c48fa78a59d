"""What a caller says of instructions, checked before anything is done with it. Pure."""

from typing import Final

from memoranda.files.errors import FileTooLarge
from memoranda.files.models import MOST_BYTES
from memoranda.instructions.models import LONGEST_TEXT_BYTES, InstructionRequest
from memoranda.instructions.segments import MOST_SKILLS_TOKENS
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_length, check_storable

LONGEST_QUERY: Final = 20_000
_TEXTS: Final = ("capabilities", "scope_advanced_prompts", "scope_context", "output_contract")


def request_input(request: InstructionRequest) -> InstructionRequest:
    """The request. Raises `Invalid` for what no text column can hold, and `OverLimit`, each with the field."""
    check_storable("query", request.query)
    check_length("query", request.query, LONGEST_QUERY)
    for name in _TEXTS:
        text = getattr(request, name)
        if text is None:
            continue
        check_storable(name, text)
        size = len(text.encode())
        if size > LONGEST_TEXT_BYTES:
            raise OverLimit(
                f"{name} has {size} bytes of UTF-8 and may have {LONGEST_TEXT_BYTES}: shorten it.",
                field=name,
                limit=LONGEST_TEXT_BYTES,
            )
    return request


def tried_body(body: str) -> str:
    """A body that is only measured. Raises as a write does, but for secrets: nothing is kept of it."""
    check_storable("body", body)
    size = len(body.encode())
    if size > MOST_BYTES:
        raise FileTooLarge(
            f"body has {size} bytes of UTF-8 and may have {MOST_BYTES}: shorten it.",
            field="body",
            limit=MOST_BYTES,
            bytes=size,
        )
    return body


def skills_cap_input(cap: int | None) -> int | None:
    """The cap. Raises `Invalid` for one out of its bounds."""
    if cap is not None and not 0 <= cap <= MOST_SKILLS_TOKENS:
        raise Invalid(
            f"skills_cap is {cap} and must be between 0 and {MOST_SKILLS_TOKENS}, or null for the product's own.",
            field="skills_cap",
        )
    return cap
