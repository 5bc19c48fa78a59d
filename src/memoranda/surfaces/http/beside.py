"""Lets an application of another surface stand beside the routes, behind the same door."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from memoranda.surfaces.http.credentials import sign_in
from memoranda.surfaces.http.errors import UnknownRoute
from memoranda.surfaces.http.limits import BoundedRequest
from memoranda.surfaces.http.operation import log_defect
from memoranda.surfaces.http.problems import defect
from memoranda.surfaces.http.product import product
from memoranda.words.errors import MemorandaError


class Beside(Protocol):
    """An application at a path of its own. It finds whose key was sent as `request.state.caller`."""

    @property
    def path(self) -> str:
        """Where it stands."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """What lasts for as long as it is served."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


class Guarded:
    """Hands on requests whose key opens something, each with its body, which is bounded as everywhere."""

    def __init__(self, application: Beside) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises `MemorandaError` before anything is answered."""
        request = Request(scope, receive)
        await sign_in(request)
        settings = product(request).settings
        bounded = BoundedRequest(request, settings.max_body_bytes, settings.body_idle_s)
        try:
            body = await bounded.body()
        except ClientDisconnect:
            return
        given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return given.pop() if given else await receive()

        try:
            await self._application(scope, replay, send)
        except MemorandaError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect must not tell the caller what it is
            log_defect(error, self._application.path)
            raise defect() from None


def route_to(application: Beside) -> Route:
    """The route at which the application answers, whatever the method."""
    return Route(application.path, Guarded(application), include_in_schema=False)


class Absent:
    """Stands where an application could stand, and tells everybody why none does."""

    def __init__(self, why: str) -> None:
        self._why = why

    async def __call__(self, *_: object) -> None:
        """Answer no request. Raises `UnknownRoute`."""
        raise UnknownRoute(self._why)


def no_route(path: str, why: str) -> Route:
    """The route at which nothing stands, whatever the method."""
    return Route(path, Absent(why), include_in_schema=False)
