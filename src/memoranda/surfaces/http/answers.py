"""The part of the API's description that tells errors: each status, with the codes it may carry."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from memoranda.surfaces.http.problems import MEDIA_TYPE, Problem, status_of
from memoranda.words.errors import MemorandaError

REF = "#/components/schemas/"


def answers(errors: Iterable[type[MemorandaError]]) -> dict[int | str, dict[str, Any]]:
    """The responses of an operation that may end in `errors`, by status."""
    by_status: defaultdict[int, dict[str, type[MemorandaError]]] = defaultdict(dict)
    for error in errors:
        by_status[status_of(error)][error.code] = error
    return {status: _answer(status, by_status[status]) for status in sorted(by_status)}


def _answer(status: int, errors: dict[str, type[MemorandaError]]) -> dict[str, Any]:
    codes = sorted(errors)
    meanings = [f"`{code}`: {_meaning(errors[code])}" for code in codes]
    narrowed = {"status": {"const": status}, "code": {"enum": codes}}
    schema = {"allOf": [{"$ref": f"{REF}{Problem.__name__}"}, {"properties": narrowed}]}
    answer = {"description": "  \n".join(meanings), "content": {MEDIA_TYPE: {"schema": schema}}}
    if any(error.retryable for error in errors.values()):
        answer["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string"}}
        }
    return answer


def _meaning(error: type[MemorandaError]) -> str:
    return " ".join((error.__doc__ or "").split())
