"""Answers that go on: lines as they come, and server-sent events. Pure."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from memoranda.client.errors import UnexpectedAnswer
from memoranda.conversations.chats.live.models import RunEnd, RunEvent, RunSnapshot
from memoranda.runs.events.models import Event, Mark, Reset

Told = Event | Mark | Reset
"""What somebody is told who follows: a change, how far all was told, or that some of it is gone."""

ToldOfRun = RunEvent | RunSnapshot | RunEnd
"""What somebody is told who follows a run: what happened, where to go on from, or that it has ended."""

END: Final = "end"
"""The event after which there is nothing more to come back for."""
RETRY_S: Final = 2.0
"""How long to wait before coming back, unless the server says otherwise."""


class Lines:
    """Puts lines together from parts. A line ends with a newline alone: a text may hold other breaks."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, part: bytes) -> Iterator[str]:
        """The lines that are whole by now."""
        *whole, self._rest = (self._rest + part).split(b"\n")
        for line in whole:
            yield _text(line.removesuffix(b"\r"))

    def check_ended(self) -> None:
        """Raise `UnexpectedAnswer` where something stands after the last newline: the rest of it is missing."""
        if self._rest:
            raise UnexpectedAnswer(
                "The answer ends amid a line, so not all of it came: ask again, and check what stands before "
                "the server."
            )


def whole_line(line: str) -> str:
    """The line of an answer in lines. Raises `UnexpectedAnswer` for one that is no object of JSON from end to end."""
    if line and not (line.startswith("{") and line.endswith("}")):
        raise UnexpectedAnswer(
            "A line of the answer is none of this API: check the address, and what stands before the server."
        )
    return line


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise _unexpected() from None


class Message(NamedTuple):
    """One message of a stream: its id, its kind, and its data where it has any."""

    id: str | None
    event: str
    data: str | None


class Messages:
    """Puts messages together from the lines of a stream. `retry_s` is when to come back."""

    def __init__(self) -> None:
        self.retry_s = RETRY_S
        self._id: str | None = None
        self._event = "message"
        self._data: list[str] = []

    def feed(self, line: str) -> Message | None:
        """The message that this line ends, if it ends one. A stream that breaks off amid one drops it."""
        if not line:
            return self._ended()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "id":
                self._id = value
            case "event":
                self._event = value
            case "data":
                self._data.append(value)
            case "retry" if value.isascii() and value.isdigit():
                self.retry_s = int(value) / 1000
            case _:
                pass  # a comment, or a field of a later day
        return None

    def _ended(self) -> Message | None:
        made = Message(self._id, self._event, "\n".join(self._data) if self._data else None)
        self._id, self._event, self._data = None, "message", []
        return None if made.id is None and made.data is None else made


class _Number(BaseModel):
    model_config = ConfigDict(frozen=True)

    number: int


def told_of_run(message: Message) -> ToldOfRun:
    """What a message of a run's events says. Raises `UnexpectedAnswer`."""
    kinds: dict[str, type[ToldOfRun]] = {"snapshot": RunSnapshot, END: RunEnd}
    kind = kinds.get(message.event, RunEvent)
    try:
        return kind.model_validate_json(message.data or "", extra="ignore")
    except ValidationError:
        raise _unexpected() from None


def told(message: Message) -> Told:
    """What a message of the organization's events says. Raises `UnexpectedAnswer`."""
    try:
        if message.data is None:
            return Mark(int(message.id or ""))
        if message.event == "reset":
            return Reset(_Number.model_validate_json(message.data).number)
        return Event.model_validate_json(message.data, extra="ignore")
    except (ValidationError, ValueError):
        raise _unexpected() from None


def _unexpected() -> UnexpectedAnswer:
    return UnexpectedAnswer(
        "The stream holds a message that is none of this API: check the address."
    )
