"""Turns errors into problem details (RFC 9457): the one table from an error to its status."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memoranda.surfaces.http.errors import (
    BrokenBody,
    InternalError,
    UnknownRoute,
)
from memoranda.surfaces.http.validation import refusal_of
from memoranda.words.errors import ErrorKind, Invalid, MemorandaError

MEDIA_TYPE: Final = "application/problem+json"

STATUS_BY_KIND: Final[Mapping[ErrorKind, int]] = {
    "not_found": 404,
    "conflict": 409,
    "invalid": 422,
    "refused": 403,
    "over_limit": 413,
    "gone": 410,
    "unavailable": 503,
}
# A code that its kind would misstate to an HTTP client.
STATUS_BY_CODE: Final[Mapping[str, int]] = {
    "unauthenticated": 401,
    "broken_body": 400,
    "method_not_allowed": 405,
    "unsupported_media_type": 415,
    "slow_body": 408,
    "too_many_requests": 429,
    "too_often": 429,
    "internal_error": 500,
    "file_too_large": 422,
}

RETRY_SECONDS: Final = 1


class Problem(BaseModel):
    """Why a request was not done. What else an error carries stands beside these fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str = Field(description="A URI that names the problem's `code`.")
    title: str = Field(description="The code in words.")
    status: int = Field(description="The HTTP status.", ge=400, le=599)
    detail: str = Field(description="What went wrong, and what to do.")
    code: str = Field(
        description="What programs should look at; once published it keeps its meaning."
    )


def status_of(error: MemorandaError | type[MemorandaError]) -> int:
    """The HTTP status of an error: by its code where that is listed, else by its kind."""
    return STATUS_BY_CODE.get(error.code, STATUS_BY_KIND[error.kind])


def problem_of(error: MemorandaError) -> Problem:
    """The error as problem details; what the error carries never hides a field of the problem."""
    fields = {
        "type": f"urn:memoranda:problem:{error.code}",
        "title": error.code.replace("_", " ").capitalize(),
        "status": status_of(error),
        "detail": error.message,
        "code": error.code,
    }
    return Problem.model_validate({**jsonable_encoder(error.details), **fields})


def response_to(error: MemorandaError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells a caller of the error."""
    problem = problem_of(error)
    sent = dict(headers or {})
    if problem.status == HTTPStatus.UNAUTHORIZED:
        sent.setdefault("WWW-Authenticate", "Bearer")
    if problem.status == HTTPStatus.REQUEST_TIMEOUT:
        sent.setdefault("Connection", "close")  # what else comes on it is the rest of the body
    if error.retryable:
        wait = error.details.get("retry_after_s", RETRY_SECONDS)
        sent.setdefault("Retry-After", str(wait))
    # In ASCII, so that no text that an error quotes can fail to be sent.
    return Response(json.dumps(problem.model_dump()), problem.status, sent, MEDIA_TYPE)


def defect() -> InternalError:
    """What a caller is told of a defect: that it is ours, and nothing of what it is."""
    return InternalError("Something broke here, and it was not the request. The log says where.")


def of_http(error: HTTPException) -> MemorandaError:
    """What the framework refused by itself, as an error of ours."""
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return UnknownRoute(
                "There is nothing at this path; GET /openapi.json lists the routes."
            )
        case HTTPStatus.BAD_REQUEST:
            return BrokenBody(
                "The body can't be read; send it whole and in the type that it claims."
            )
        case status if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return Invalid("The request can't be read; compare it with GET /openapi.json.")
        case _:
            return defect()


def tell_problems(app: FastAPI) -> None:
    """Make every refusal and every defect of the app leave as problem details."""
    for error in (MemorandaError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(error, _tell)


async def _tell(_: Request, error: Exception) -> Response:
    match error:
        case MemorandaError():
            return response_to(error)
        case RequestValidationError():
            return response_to(refusal_of(error.errors()))
        case HTTPException():
            return response_to(of_http(error), error.headers)
        case _:
            return response_to(defect())
