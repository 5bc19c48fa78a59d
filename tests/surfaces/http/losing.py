"""A client of runs that are streamed, whose connection is lost at any byte; the application is asked in this process."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message

from memoranda.conversations.chats.live.folding import folded
from memoranda.conversations.chats.live.models import RunEvent, RunSnapshot, RunState


class Told(NamedTuple):
    """One whole message of a stream."""

    id: int | None
    event: str
    data: Any


class Loss(NamedTuple):
    """Where a connection is lost: so many bytes after so many whole parts of the stream, of which the first is no message."""

    parts: int
    more: int

    def cuts(self, got: bytes) -> int | None:
        """How many bytes come through; None while it is not lost yet."""
        at = 0
        for _ in range(self.parts):
            at = got.find(END, at) + len(END)
            if at < len(END):
                return None
        return at + self.more if len(got) >= at + self.more else None


END = b"\n\n"


class Heard(NamedTuple):
    """What came over one connection until it was lost or ended."""

    status: int
    body: str


async def listen(
    app: ASGIApp,
    path: str,
    key: str,
    *,
    last: int | None = None,
    loss: Loss | None = None,
    begun: asyncio.Event | None = None,
) -> Heard:
    """Ask for a stream, and read it to its end or until the connection is lost; `begun` is set by the first message."""
    status, got = 0, bytearray()
    most: int | None = None
    gone = asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, most
        if message["type"] == "http.response.start":
            status = message["status"]
            return
        got.extend(message.get("body", b""))
        if begun is not None and b"data: " in got:
            begun.set()
        if loss is not None and most is None:
            most = loss.cuts(bytes(got))
        if most is not None:
            gone.set()
            await asyncio.sleep(0)  # the other side hears of it

    headers = [(b"host", b"m.test"), (b"authorization", f"Bearer {key}".encode())]
    if last is not None:
        headers.append((b"last-event-id", str(last).encode()))
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("m.test", 80),
        "asgi": {"version": "3.0", "spec_version": "2.3"},
    }
    try:
        await app(scope, receive, send)
    finally:
        gone.set()
    whole = bytes(got if most is None else got[:most])
    return Heard(status, whole.decode(errors="replace"))


def messages(body: str) -> Iterator[Told]:
    """The messages that came whole: one that broke off is none."""
    *whole, _ = body.split("\n\n")
    for each in whole:
        fields = dict(line.split(": ", 1) for line in each.splitlines() if not line.startswith(":"))
        if "data" in fields:
            number = int(fields["id"]) if "id" in fields else None
            yield Told(number, fields.get("event", ""), json.loads(fields["data"]))


def lost_at(body: str) -> str:
    """Where in a stream the connection was lost: the message that broke off, or the one that was the last to come whole."""
    *whole, rest = body.split("\n\n")
    if not whole:
        return "before a message"
    if not rest:
        named = _EVENT.findall(whole[-1])
        return f"behind {named[0] if named else 'nothing'}"
    named = _EVENT.findall(rest)
    return f"amid {named[0] if named else 'a number'}"


_EVENT = re.compile("^event: (.*)\n", re.MULTILINE)


class Follower:
    """Follows one run after another, folds what it is told, and keeps the thread that it would show."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app, self._key = app, key
        self.thread: list[dict[str, Any]] = []
        self.snapshots = self.connections = 0
        self.losses: Counter[str] = Counter()
        self.lost: set[object] = set()
        """The runs in which the connection was lost."""
        self.points: set[int] = set()
        """The bytes of streams after which it was."""
        self._state = RunState()
        self.ended = False

    def begin(self) -> None:
        """Nothing is known of the next run."""
        self._state, self.ended = RunState(), False

    @property
    def state(self) -> RunState:
        return self._state

    async def connect(self, run_id: object, *, last: int | None, loss: Loss | None = None) -> None:
        """Listen until the run has ended or the connection is lost."""
        self.connections += 1
        heard = await listen(
            self._app, f"/v1/chat-runs/{run_id}/stream", self._key, last=last, loss=loss
        )
        assert heard.status in {0, 200}, heard.body
        for told in messages(heard.body):
            self._take(told)
        if not self.ended:
            self.losses[lost_at(heard.body)] += 1
            self.lost.add(run_id)
            self.points.add(len(heard.body))

    def _take(self, told: Told) -> None:
        match told.event:
            case "snapshot":
                self.snapshots += 1
                known = RunSnapshot.model_validate(told.data)
                self._state = RunState(**known.model_dump(include=set(RunState.model_fields)))
            case "end":
                self.ended = True
                self._show()
            case _:
                self._state = folded(self._state, [RunEvent.model_validate(told.data)])

    def _show(self) -> None:
        said = self._state.message
        if said is not None:
            self.thread.append(said.model_dump(mode="json"))
