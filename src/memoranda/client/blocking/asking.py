"""Sends calls and waits for their answers, as often as it is safe and worth it."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any, Final, TypeVar

import httpx

from memoranda.client.call import Call
from memoranda.client.errors import closed
from memoranda.client.exchange import (
    EVENTS,
    FOLLOWING,
    LINES,
    Sent,
    answer_of,
    chunks,
    failure_of,
    lost,
    misplaced,
    sent,
)
from memoranda.client.retrying import PATIENT, Failure, Retries
from memoranda.client.streams import END, Lines, Message, Messages, whole_line

T = TypeVar("T")


class Asking:
    """Makes calls over one pool of connections."""

    def __init__(
        self,
        http: httpx.Client,
        retries: Retries | None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._http: Final = http
        self._retries: Final = retries or Retries()
        self._patient: Final = retries or PATIENT
        self._sleep: Final = sleep

    def ask(self, call: Call[T]) -> T:
        """What is answered. Raises the error that the server tells of, `Unreachable` and `UnexpectedAnswer`."""
        for tried in count(1):
            outcome = self._once(call)
            if not isinstance(outcome, Failure):
                return outcome
            self._wait(call, outcome, tried, self._retries)
        raise AssertionError("an endless count ended")

    def lines(self, call: Call[str]) -> Generator[str, None, None]:
        """The lines of an answer as they come; one that breaks off raises, and does not just end.

        Raises `UnexpectedAnswer` where it ends amid a line, or a line is no object of JSON.
        """
        lines = Lines()
        with self._streamed(call, LINES) as response:
            try:
                for part in response.iter_bytes():
                    yield from map(whole_line, lines.feed(part))
            except httpx.RequestError as error:
                raise lost(error).error from error
        lines.check_ended()

    def messages(self, call: Call[str]) -> Generator[Message, None, None]:
        """The messages of a stream, which is gone on with where it broke off, until the caller leaves."""
        retries = self._retries
        while True:
            messages, lines = Messages(), Lines()
            with self._streamed(call, EVENTS, FOLLOWING, retries) as response:
                retries = self._patient
                try:
                    for part in response.iter_bytes():
                        for message in filter(None, map(messages.feed, lines.feed(part))):
                            if message.id is not None:
                                call = replace(
                                    call, headers={**call.headers, "Last-Event-ID": message.id}
                                )
                            yield message
                            if message.event == END:
                                return
                except httpx.RequestError:
                    pass  # the connection is gone: another one goes on after the last id
            if call.query.get("follow") is False:
                return
            self._sleep(messages.retry_s)

    def _once(self, call: Call[T]) -> T | Failure:
        try:
            with self._request(sent(call)) as request:
                response = self._http.send(request)
        except httpx.RequestError as error:
            return lost(error)
        except RuntimeError as error:
            raise self._closed(error) from None
        return answer_of(call, response)

    def _closed(self, error: RuntimeError) -> Exception:
        """What is told instead of an error that only says that the client was closed."""
        return closed() if self._http.is_closed else error

    def _wait(self, call: Call[Any], failure: Failure, tried: int, retries: Retries) -> None:
        """Wait before the next attempt, or raise where there is none."""
        wait_s = retries.wait_s(call, failure, tried)
        if wait_s is None:
            raise failure.error
        self._sleep(wait_s)

    @contextmanager
    def _request(
        self, said: Sent, patience: httpx.Timeout | None = None
    ) -> Iterator[httpx.Request]:
        own: dict[str, Any] = {} if patience is None else {"timeout": patience}
        own |= {"params": said.params, "headers": said.headers}
        if said.file is None:
            yield self._http.build_request(said.method, said.url, content=said.content, **own)
            return
        with said.file.opened() as file:
            if said.fields is None:
                own |= {"content": chunks(file)}
            else:
                own |= {"data": said.fields, "files": {"file": (said.file.name, file)}}
            yield self._http.build_request(said.method, said.url, **own)

    @contextmanager
    def _streamed(
        self,
        call: Call[Any],
        wanted: str,
        patience: httpx.Timeout | None = None,
        retries: Retries | None = None,
    ) -> Iterator[httpx.Response]:
        """An answer that has begun, and is not read yet."""
        for tried in count(1):
            begun = self._begun(call, wanted, patience)
            if isinstance(begun, Failure):
                self._wait(call, begun, tried, retries or self._retries)
                continue
            try:
                yield begun
            finally:
                begun.close()
            return

    def _begun(
        self, call: Call[Any], wanted: str, patience: httpx.Timeout | None
    ) -> httpx.Response | Failure:
        try:
            with self._request(sent(call), patience) as request:
                response = self._http.send(request, stream=True)
            if response.is_success:
                other = misplaced(response, wanted)
                if other is not None:
                    response.close()
                return other or response
            response.read()
        except httpx.RequestError as error:
            return lost(error)
        except RuntimeError as error:
            raise self._closed(error) from None
        return failure_of(response)
