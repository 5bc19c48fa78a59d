"""The streams of a server that one client has started: messages come and go over pipes."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from memoranda.surfaces.mcp.frames import Misread, lines, message_in

LAST_ANSWERS_S: Final = 10.0
"""How long what was asked before the input ended may still take."""
LAST_WRITE_S: Final = 2.0
"""How long the last message may take to be read by a client."""
STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2

Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]


def claim_output() -> int:
    """Take standard output for messages alone: what else is printed from now on goes to standard error."""
    taken = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    return taken


@asynccontextmanager
async def pipes(source: int, sink: int) -> AsyncIterator[tuple[Inbound, Outbound]]:
    """Streams over the lines of two descriptors.

    Once the input ends, what was asked before is still answered. A client that reads no more ends
    it too.
    """
    arrived, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    pipe = _Pipe(arrived, outbound, leaving)
    loop = asyncio.get_running_loop()
    # A thread of its own, which nobody waits for: it may be in a read that never ends.
    threading.Thread(target=_read, args=(source, loop, pipe), daemon=True).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipe.write, sink)
        yield inbound, outbound
        pipe.close()
        with anyio.move_on_after(LAST_WRITE_S):
            await pipe.written.wait()
        tasks.cancel_scope.cancel()


class _Pipe:
    """What was asked, and what of it is answered."""

    def __init__(
        self,
        arrived: MemoryObjectSendStream[SessionMessage | Exception],
        outbound: Outbound,
        leaving: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self._arrived = arrived
        self._outbound = outbound
        self._leaving = leaving
        self._unanswered: set[str] = set()
        self._settled = anyio.Event()
        self.written = anyio.Event()

    async def take(self, line: bytes | None) -> None:
        """Hand a line to the server, or answer that it is none of its messages."""
        if line is not None and not line.strip():
            return
        message = message_in(line)
        if isinstance(message, Misread):
            await self._outbound.send(SessionMessage(message.answer))
            return
        self._came(message)
        await self._arrived.send(SessionMessage(message))

    async def end(self) -> None:
        """Let the server go once it has answered, or after a while."""
        with anyio.move_on_after(LAST_ANSWERS_S):
            while self._unanswered:
                self._settled = anyio.Event()
                await self._settled.wait()
        self._arrived.close()

    async def write(self, sink: int) -> None:
        """Send what the server says, until the client is gone."""
        try:
            async for sent in self._leaving:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                await anyio.to_thread.run_sync(
                    _write, sink, text.encode() + b"\n", abandon_on_cancel=True
                )
                if not isinstance(sent.message, JSONRPCRequest | JSONRPCNotification):
                    self._settle(sent.message.id)
        except OSError:
            self._unanswered.clear()
            self._arrived.close()
        finally:
            self.written.set()

    def close(self) -> None:
        """Take nothing more, and send what is on its way as the last."""
        self._arrived.close()
        self._outbound.close()

    def _came(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, identity: object) -> None:
        self._unanswered.discard(str(identity))
        self._settled.set()


def _read(source: int, loop: asyncio.AbstractEventLoop, pipe: _Pipe) -> None:
    """Hand over line by line, each only once the one before is taken."""
    # The loop is closed, or closing, or the server has gone: there is nobody to read for.
    with suppress(
        RuntimeError,
        CancelledError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        OSError,
    ):
        for line in lines(source):
            asyncio.run_coroutine_threadsafe(pipe.take(line), loop).result()
        asyncio.run_coroutine_threadsafe(pipe.end(), loop).result()


def _write(sink: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(sink, left) :]
