"""What a provider's answer or request has to hold to be one: an error, or another's, is never read as an empty one. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from memoranda.conversations.wire.plain import Given, plain_list
from memoranda.words.errors import Invalid

Item = dict[str, Any]

ANSWERS_HOLD: Final = {
    "openai_responses": "output",
    "openai_chat": "choices",
    "anthropic": "content",
    "gemini": "candidates",
}
"""The list that is the answer, by which APIs are told apart."""


CALLS_WITHIN: Final = {"tool_use", "tool_result", "thinking", "redacted_thinking"}
"""Parts of a message's content that OpenAI's APIs have elsewhere, or not at all."""


def listed(body: Item, provider: str) -> list[Any]:
    """The list that an answer of the provider's is made of. Raises `Invalid` where there is none."""
    held = body.get(ANSWERS_HOLD[provider])
    return held if isinstance(held, list) else no_answer(body, provider)


def no_answer(body: Item, provider: str) -> NoReturn:
    """Refuse what is no answer of the provider's, and say what it is where that is plain to see."""
    others = [
        name
        for name, held in ANSWERS_HOLD.items()
        if name != provider and isinstance(body.get(held), list)
    ]
    if body.get("error") is not None:
        what = "It is an error: nothing was answered."
    elif others:
        what = f"It looks like one of {others[0]}: read it as that."
    else:
        what = f"An answer of its has a list, {ANSWERS_HOLD[provider]}."
    raise Invalid(f"This is no answer of {provider}, so nothing of it was kept. {what}")


def typed(parts: Iterable[Item], provider: str) -> list[Item]:
    """The parts of an answer, each of which says its type. Raises `Invalid`."""
    found = list(parts)
    for place, part in enumerate(found):
        if not isinstance(part.get("type"), str):
            raise Invalid(
                f"This is no answer of {provider}, so nothing of it was kept: part {place} says no type."
            )
    return found


def no_stream(provider: str) -> NoReturn:
    """Refuse events of which none begins an answer of the provider's."""
    raise Invalid(
        f"These events begin no answer of {provider}, so nothing of them was kept: they are an error, "
        "or another API's."
    )


def given_list(values: object, field: str, *, nulls: bool = True) -> list[Item]:
    """The messages of a request, each as plain JSON. Raises `Invalid` for a whole request, or for no list."""
    if isinstance(values, Mapping):
        raise Invalid(
            f"from_input takes the list of a request, and was given an object: give it its {field}, or "
            "the whole request to `requests.read_request`.",
            field=field,
        )
    if isinstance(values, str | bytes | bytearray) or not isinstance(values, Iterable):
        raise Invalid(
            f"{field} is a list of objects, and not {type(values).__name__}.", field=field
        )
    items: Iterable[Given | None] = values
    return plain_list(items, nulls=nulls)


def is_anothers(item: Item) -> bool:
    """Whether it is a message with parts that none of OpenAI's has: what it calls would not be seen."""
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") in CALLS_WITHIN for part in parts)


def no_item(place: int, field: str, provider: str, expected: str) -> NoReturn:
    """Refuse an entry of a request's list that the API does not have."""
    raise Invalid(
        f"{field}.{place} is not in the form of {provider}, so nothing was kept: {expected}.",
        field=f"{field}.{place}",
    )
