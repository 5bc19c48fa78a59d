"""A problem document becomes the error that the library raises, also one that a newer server tells."""

import json
from typing import Any

import httpx
import pytest

from memoranda.client import AsyncClient, Client
from memoranda.client.errors import KIND_BY_STATUS, UnexpectedAnswer, error_of, known
from memoranda.surfaces.http.problems import (
    MEDIA_TYPE,
    STATUS_BY_KIND,
    problem_of,
    response_to,
    status_of,
)
from memoranda.words.errors import (
    Conflict,
    Gone,
    Invalid,
    MemorandaError,
    NotFound,
    OverLimit,
    PolicyRejected,
    Refused,
    RequiredContextSourceError,
    SecretFound,
    Unavailable,
    error_types,
)
from tests.client.described import DESCRIBED


def told() -> set[str]:
    """Every code that an operation states."""
    return {
        code
        for methods in DESCRIBED["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
        if MEDIA_TYPE in answer.get("content", {})
        for code in answer["content"][MEDIA_TYPE]["schema"]["allOf"][1]["properties"]["code"][
            "enum"
        ]
    }


def test_every_code_that_the_api_states_is_the_servers_own_class() -> None:
    on_the_server = {each.code: each for each in error_types() if ".client." not in each.__module__}
    assert told() - set(known()) == set()
    assert {code: known()[code] for code in told()} == {
        code: on_the_server[code] for code in told()
    }


@pytest.mark.parametrize(
    "error",
    [
        NotFound("There is no memory of this id."),
        SecretFound("That looks like a key.", field="text", secret="a key", line=2),
        PolicyRejected.because([(("sources", 0, "limit"), "Too many."), ((), "No policy.")]),
        RequiredContextSourceError.because({"memory": "timeout", "dossier": "failed"}),
        Conflict("It moved on.", status="gone", detail="hidden", kept=True),
    ],
    ids=lambda error: error.code,
)
def test_an_error_comes_back_as_it_was_raised(error: MemorandaError) -> None:
    response = response_to(error)
    back = error_of(response.status_code, response.body)
    assert (type(back), back.message, back.code, back.kind, back.retryable) == (
        *(type(error), error.message, error.code, error.kind, error.retryable),
    )
    own = set(problem_of(error).model_dump()) & {"status", "detail"}
    assert back.details == {k: v for k, v in error.details.items() if k not in own}
    if isinstance(error, PolicyRejected) and isinstance(back, PolicyRejected):
        assert back.rejections == error.rejections
    if isinstance(error, RequiredContextSourceError):
        assert isinstance(back, RequiredContextSourceError)
        assert back.sources == error.sources


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, NotFound),
        (409, Conflict),
        (410, Gone),
        (418, None),
        (429, OverLimit),
        (401, Refused),
        (503, Unavailable),
    ],
)
def test_a_code_of_a_later_day_is_of_the_kind_that_its_status_tells(
    status: int, kind: type[MemorandaError] | None
) -> None:
    error = error_of(status, json.dumps({"code": "later", "detail": "Later.", "n": 1}).encode())
    assert (error.code, error.message, error.details) == ("later", "Later.", {"n": 1})
    assert error.kind == ("invalid" if kind is None else kind.kind)
    assert kind is None or isinstance(error, kind)


@pytest.mark.parametrize("address", ["127.0.0.1:99", "memoranda.test", "ftp://memoranda.test", ""])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_address_without_http_is_refused_when_the_client_is_made(
    kind: Any, address: str
) -> None:
    with pytest.raises(Invalid, match="begins with http://"):
        kind(address, "k")


@pytest.mark.parametrize(
    "address", ["http://x.test", "http://x.test/", "http://x.test/v1", "http://x.test/v1/"]
)
def test_an_address_may_end_as_paths_begin(address: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(204)

    with Client(address, transport=httpx.MockTransport(answer)) as client:
        client.chats.delete("c1")
    assert asked == ["http://x.test/v1/chats/c1"]


def test_kinds_by_status_are_those_of_the_server() -> None:
    for error in known().values():
        status = status_of(error)
        told = KIND_BY_STATUS.get(status)
        if told is not None and STATUS_BY_KIND[error.kind] == status:
            assert told.kind == error.kind


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"{}",
        b'{"code": 1, "detail": "x"}',
        b'{"code": "x"}',
        b"\xff",
    ],
)
def test_what_is_no_problem_document_is_an_unexpected_answer(content: bytes) -> None:
    error: Any = error_of(502, content)
    assert isinstance(error, UnexpectedAnswer)
    assert error.details == {"status": 502}
