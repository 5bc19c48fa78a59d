"""The port that every summarizer answers to, and a host's own function behind it."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from memoranda.conversations.models import Message
from memoranda.conversations.usage.models import CallUsage, checked_usage
from memoranda.words.errors import MemorandaError, Unavailable


@dataclass(frozen=True)
class SummaryRequest:
    """What is to be told in short: these messages, an earlier summary among them, in about so many tokens."""

    messages: tuple[Message, ...]
    most_tokens: int


@dataclass(frozen=True)
class Summary:
    """What a summarizer made, and what asking for it used, where a model was asked."""

    text: str
    usage: CallUsage | None = None


@runtime_checkable
class Summarizer(Protocol):
    """Messages to a shorter text that a model can go on from."""

    @property
    def name(self) -> str:
        """Who makes the summary; attempts are recorded under it."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Tell what the messages say. Raises anything where it can't: nothing is compacted then."""


OwnFunction: TypeAlias = Callable[[SummaryRequest], str | Summary | Awaitable[str | Summary]]


class OwnSummarizer:
    """A host's own function, plain or async; a plain one runs on a thread."""

    def __init__(self, function: OwnFunction, name: str = "own") -> None:
        self.name = name
        self._function = function
        self._waits = inspect.iscoroutinefunction(function)

    async def summarize(self, request: SummaryRequest) -> Summary:
        """See `Summarizer`."""
        made: str | Summary | Awaitable[str | Summary]
        if self._waits:
            made = self._function(request)
        else:
            made = await asyncio.to_thread(self._function, request)
        if inspect.isawaitable(made):
            made = await made
        return Summary(made) if isinstance(made, str) else made


async def asked(summarizer: Summarizer, request: SummaryRequest) -> Summary:
    """The summary. Raises `Unavailable`, whatever went wrong; what a foreign error says may quote the messages."""
    try:
        made: object = await summarizer.summarize(request)
    except MemorandaError as error:
        raise Unavailable(error.message, **error.details) from error
    except Exception as error:
        raise Unavailable(f"The summarizer failed ({type(error).__name__}).") from error
    if not (isinstance(made, Summary) and isinstance(made.text, str)):
        raise Unavailable("The summarizer answered with something else than a text.")
    if made.usage is None:
        return made
    try:
        return Summary(made.text, checked_usage(made.usage))
    except MemorandaError as error:
        raise Unavailable(
            f"What the summarizer used can't be counted: {error.message}", **error.details
        ) from None
