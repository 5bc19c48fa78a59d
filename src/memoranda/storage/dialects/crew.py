"""A few threads, each with a connection of its own, that take transactions from any event loop."""

from collections import deque
from collections.abc import Sequence
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol, TypeAlias

from memoranda.storage.errors import StorageUnavailable
from memoranda.storage.work import Work, deliver

_Inbox: TypeAlias = "SimpleQueue[Work[Any] | None]"


class Member(Protocol):
    """What one thread owns: a connection, and how it runs one transaction on it."""

    def serve(self, work: Work[Any]) -> None: ...
    def close(self) -> None: ...


class Crew:
    """Whoever was free last works next: its connection has the warmest caches.

    An outcome is handed out when its thread has queued up again, so that one
    caller that asks again and again is served by one thread.
    """

    def __init__(self, name: str, members: Sequence[Member]) -> None:
        self._lock = Lock()
        self._waiting: deque[Work[Any]] = deque()
        self._idle: list[_Inbox] = []
        self._closed = False
        self._threads = [
            Thread(target=self._run, args=(member,), name=f"memoranda-{name}-{number}", daemon=True)
            for number, member in enumerate(members)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work[Any]) -> None:
        """Queue a transaction; raises `StorageUnavailable` after `close`."""
        with self._lock:
            if self._closed:
                raise closed()
            if self._idle:
                self._idle.pop().put(work)
            else:
                self._waiting.append(work)

    def close(self) -> None:
        """Finish what is queued and end the threads. Blocks."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self, member: Member) -> None:
        inbox: _Inbox = SimpleQueue()
        done: Work[Any] | None = None
        while (work := self._next(inbox, done)) is not None:
            if not work.cancelled:
                try:
                    member.serve(work)
                except BaseException as error:  # noqa: BLE001 - the thread outlives whatever happens
                    work.fail(error)
            done = work
        member.close()

    def _next(self, inbox: _Inbox, done: Work[Any] | None) -> Work[Any] | None:
        """Queue up, hand out what is done, and wait for the next transaction; None ends the thread."""
        work: Work[Any] | None = None
        with self._lock:
            if self._waiting:
                work = self._waiting.popleft()
            stops = work is None and self._closed
            if work is None and not stops:
                self._idle.append(inbox)
        if done is not None:
            deliver([done])
        return work if work is not None or stops else inbox.get()


def closed() -> StorageUnavailable:
    """What a transaction gets that comes after the end."""
    return StorageUnavailable("The database has been closed here: open it again.")
