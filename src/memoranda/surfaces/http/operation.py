"""One operation of the API: what every route does around its function, and every error it states."""

import logging
import traceback
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import unquote

from fastapi import Request, params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from memoranda.access.rates.service import TooManyRequests
from memoranda.settings import Settings
from memoranda.storage import StorageBusy, StorageUnavailable
from memoranda.surfaces.http.answers import answers
from memoranda.surfaces.http.credentials import sign_in
from memoranda.surfaces.http.errors import (
    BrokenBody,
    InternalError,
    SlowBody,
    UnsupportedMediaType,
)
from memoranda.surfaces.http.limits import (
    FORM,
    FORM_ROOM,
    JSON,
    BoundedRequest,
    check_media_type,
    check_query,
    of_form,
)
from memoranda.surfaces.http.problems import defect
from memoranda.surfaces.http.product import product
from memoranda.surfaces.http.rates import count, rate_of
from memoranda.words.errors import (
    Invalid,
    MemorandaError,
    NotFound,
    OverLimit,
    Refused,
    Unauthenticated,
    Unavailable,
)

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handler = Callable[[Request], Coroutine[Any, Any, Response]]

logger: Final = logging.getLogger(__name__)
SLASH: Final = b"%2f"


def raises(*errors: type[MemorandaError]) -> Callable[[Endpoint], Endpoint]:
    """State which errors a route's own work may end in, beside those that its shape implies."""

    def stated(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, "raises", errors)  # noqa: B010 - a function has no such attribute to a type checker
        return endpoint

    return stated


def holds(most: Callable[[Settings], int]) -> Callable[[Endpoint], Endpoint]:
    """State that a route's body may hold as much as a setting says, where that is more than others may.

    JSON may spell a text in twice its bytes.
    """

    def stated(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, "holds", most)  # noqa: B010 - a function has no such attribute to a type checker
        return endpoint

    return stated


class Operation(APIRoute):
    """A route for callers with a key.

    The caller is found and counted before the body is read; the body is bounded; a defect is logged
    and told as `internal_error`. The description of the API states each error it can answer.
    """

    public: ClassVar[bool] = False

    def __init__(self, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:
        super().__init__(path, endpoint, **settings)
        self.responses = answers([*getattr(endpoint, "raises", ()), *self._implied()])

    def _implied(self) -> Iterator[type[MemorandaError]]:
        yield from (InternalError, Unavailable)
        if self.public:
            return
        yield from (StorageBusy, StorageUnavailable, Unauthenticated, Refused, Invalid)
        if rate_of(self.endpoint) is not None:
            yield TooManyRequests
        if self.dependant.path_params:
            yield NotFound
        if self.body_field is not None:
            yield from (BrokenBody, OverLimit, SlowBody, UnsupportedMediaType)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the route answers there. What is an address of its own is never taken for an id."""
        if self.param_convertors and scope["path"] in scope["app"].state.addresses:
            return Match.NONE, {}
        raw: bytes = scope.get("raw_path") or b""
        if SLASH not in raw.lower():
            return super().matches(scope)
        # A slash that is spelled out is part of an id, and parts no steps.
        match, found = super().matches({**scope, "path": raw.decode("latin-1")})
        ids = {name: unquote(value) for name, value in found.get("path_params", {}).items()}
        return match, {**found, "path_params": ids} if ids else found

    def get_route_handler(self) -> Handler:
        """The route's function with all that stands before and after it."""
        handle = super().get_route_handler()
        query = [parameter.alias for parameter in self.dependant.query_params]

        async def handler(request: Request) -> Response:
            try:
                if not self.public:
                    await sign_in(request)
                    await count(request, rate_of(self.endpoint))
                    check_query(request, query)
                return await handle(self._bounded(request))
            except HTTPException as error:
                # The framework takes any failure to read a body for its own.
                if isinstance(error.__cause__, MemorandaError):
                    raise error.__cause__ from None
                raise of_form(error) or error from None
            except (MemorandaError, RequestValidationError):
                raise
            except Exception as error:  # noqa: BLE001 - a defect must not tell the caller what it is
                raise self._defect(error) from None

        return handler

    def _bounded(self, request: Request) -> Request:
        if self.body_field is None:
            return request
        settings = product(request).settings
        idle_s = settings.body_idle_s
        if isinstance(self.body_field.field_info, params.Form):
            check_media_type(request, FORM)
            return BoundedRequest(request, settings.max_upload_bytes + FORM_ROOM, idle_s)
        check_media_type(request, JSON)
        own: Callable[[Settings], int] | None = getattr(self.endpoint, "holds", None)
        most = 0 if own is None else 2 * own(settings)
        return BoundedRequest(request, max(most, settings.max_body_bytes), idle_s)

    def _defect(self, error: Exception) -> InternalError:
        log_defect(error, self.name)
        return defect()


def log_defect(error: Exception, where: str) -> None:
    """Log what broke that should not, by its type and place: its message may quote what people wrote."""
    logger.error(
        "%s in %s\n%s",
        type(error).__name__,
        where,
        "".join(traceback.format_tb(error.__traceback__)),
    )


class PublicOperation(Operation):
    """A route that anybody may ask."""

    public = True
