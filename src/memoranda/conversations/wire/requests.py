"""One way to every provider: the messages' part of its next request, as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.conversations.models import Message
from memoranda.conversations.wire import anthropic, gemini, openai_chat, openai_responses
from memoranda.conversations.wire.capabilities import Capabilities, Wire, capabilities_of
from memoranda.conversations.wire.plain import Given
from memoranda.conversations.wire.portable import GOES_ON
from memoranda.words.errors import Invalid

SAID_UNDER: Final[Mapping[Wire, str]] = {
    "openai_responses": "input",
    "openai_chat": "messages",
    "anthropic": "messages",
    "gemini": "contents",
}
"""Where in a request the messages are."""


def build_request(provider: str | Capabilities, messages: Sequence[Message]) -> dict[str, Any]:
    """The part of the provider's next request that the messages are, ready for JSON.

    `provider` is a name of `CAPABILITIES`, or what an endpoint was found to take. The messages stay as
    they are. Raises `Invalid` for a provider that is not known.
    """
    target = capabilities_of(provider) if isinstance(provider, str) else provider
    match target.wire:
        case "openai_responses":
            items = openai_responses.to_input(messages, target)
            return {"input": items or _going_on(messages)}
        case "openai_chat":
            return {"messages": openai_chat.to_input(messages, target) or _going_on(messages)}
        case "anthropic":
            prompt, said = anthropic.to_input(messages, target)
            return ({} if prompt is None else {"system": prompt}) | {"messages": said}
        case "gemini":
            instruction, contents = gemini.to_input(messages, target)
            named = {} if instruction is None else {"systemInstruction": instruction}
            return named | {"contents": contents}


def _going_on(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """What a request of OpenAI's says where nothing of the messages can be said; of no messages nothing."""
    return [{"role": "user", "content": GOES_ON.text}] if messages else []


def read_response(provider: str, response: Given) -> list[Message]:
    """The messages of a provider's answer. Raises `Invalid` for a provider that is not known."""
    readers = {
        "openai_responses": openai_responses.from_response,
        "openai_chat": openai_chat.from_response,
        "anthropic": anthropic.from_response,
        "gemini": gemini.from_response,
    }
    return readers[capabilities_of(provider).wire](response)


def read_request(provider: str, request: Mapping[str, Any]) -> list[Message]:
    """The messages of a request in the form that `build_request` gives it.

    Raises `Invalid` for a provider that is not known, and for a request that is not of its API.
    """
    wire: Wire = capabilities_of(provider).wire
    said = _said(request, SAID_UNDER[wire], provider)
    match wire:
        case "openai_responses":
            return openai_responses.from_input(said)
        case "openai_chat":
            return openai_chat.from_input(said)
        case "anthropic":
            return anthropic.from_input(said, request.get("system"))
        case "gemini":
            return gemini.from_input(said, request.get("systemInstruction"))


def _said(request: object, field: str, provider: str) -> Any:
    if not isinstance(request, Mapping) or request.get(field) is None:
        raise Invalid(f"A request to {provider} is an object with {field}.", field=field)
    return request[field]
