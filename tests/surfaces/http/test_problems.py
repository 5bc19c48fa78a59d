"""Every error has one status, and leaves as problem details that quote nothing they should not."""

import json
from typing import get_args

import pytest

from memoranda.surfaces.http.problems import (
    MEDIA_TYPE,
    STATUS_BY_CODE,
    STATUS_BY_KIND,
    problem_of,
    response_to,
    status_of,
)
from memoranda.surfaces.http.validation import MOST_ERRORS, refusal_of
from memoranda.words.errors import (
    ErrorKind,
    Invalid,
    MemorandaError,
    NotFound,
    PolicyRejected,
    StorageBusy,
    Unauthenticated,
    error_types,
)


def sorted_errors() -> list[type[MemorandaError]]:
    return sorted(set(error_types()), key=lambda error: error.code)


def test_every_kind_has_a_status() -> None:
    assert set(STATUS_BY_KIND) == set(get_args(ErrorKind))


def test_every_code_that_has_a_status_of_its_own_exists() -> None:
    assert set(STATUS_BY_CODE) <= {error.code for error in sorted_errors()}


@pytest.mark.parametrize("error", sorted_errors(), ids=lambda error: error.code)
def test_every_error_has_a_status_that_says_whose_fault_it_is(error: type[MemorandaError]) -> None:
    server_fault = error.kind == "unavailable"
    assert (status_of(error) >= 500) is server_fault


def test_a_problem_has_the_five_fields_and_what_the_error_carries() -> None:
    problem = problem_of(Invalid("Say it again.", field="text", limit=3)).model_dump()
    assert problem == {
        "type": "urn:memoranda:problem:invalid_input",
        "title": "Invalid input",
        "status": 422,
        "detail": "Say it again.",
        "code": "invalid_input",
        "field": "text",
        "limit": 3,
    }


def test_what_an_error_carries_never_hides_a_field_of_the_problem() -> None:
    problem = problem_of(NotFound("Gone fishing.", status="ready", code="other", title="mine"))
    assert (problem.status, problem.code, problem.title) == (404, "not_found", "Not found")


def test_a_policy_is_refused_with_each_reason_at_its_path() -> None:
    error = PolicyRejected.because([(("sources", 0, "limit"), "Too many."), (("x",), "Unknown.")])
    problem = problem_of(error).model_dump()
    assert problem["rejections"] == [
        {"path": ["sources", 0, "limit"], "message": "Too many."},
        {"path": ["x"], "message": "Unknown."},
    ]


def test_a_problem_is_sent_as_problem_json() -> None:
    response = response_to(NotFound("No."))
    assert response.headers["content-type"] == MEDIA_TYPE
    assert json.loads(bytes(response.body))["status"] == response.status_code == 404


def test_any_text_in_an_error_can_be_sent() -> None:
    response = response_to(Invalid("half \ud800 a pair", field="\udfff"))
    assert json.loads(bytes(response.body))["field"] == "\udfff"


def test_who_has_no_key_is_told_how_to_show_one() -> None:
    assert response_to(Unauthenticated("No."), {}).headers["www-authenticate"] == "Bearer"


def test_what_may_work_later_says_when_to_try_again() -> None:
    assert response_to(StorageBusy("Busy.")).headers["retry-after"] == "1"
    assert "retry-after" not in response_to(NotFound("No.")).headers


def entry(*path: str | int, kind: str = "string_type", message: str = "Wrong") -> dict[str, object]:
    return {"type": kind, "loc": path, "msg": message, "input": "SECRET", "ctx": {"a": "SECRET"}}


def test_a_misshapen_request_is_told_place_by_place_without_what_was_sent() -> None:
    problem = problem_of(refusal_of([entry("body", "a", 0), entry("query", "b")])).model_dump()
    assert [error["path"] for error in problem["errors"]] == [["body", "a", 0], ["query", "b"]]
    assert "SECRET" not in json.dumps(problem)


def test_a_sentence_that_would_quote_the_input_is_said_without_it() -> None:
    refusal = refusal_of([entry("path", "id", kind="uuid_parsing", message="found `§` at 1")])
    assert "§" not in json.dumps(problem_of(refusal).model_dump(), ensure_ascii=False)


def test_endless_faults_make_no_endless_answer() -> None:
    problem = problem_of(refusal_of([entry("body", "x" * 10_000, n) for n in range(10_000)]))
    assert len(problem.model_dump()["errors"]) == MOST_ERRORS
    assert len(problem.model_dump_json()) < 10_000
