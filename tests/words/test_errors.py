"""Errors have stable codes and say everything a surface needs."""

import pickle

from memoranda.words import errors
from memoranda.words.errors import (
    Conflict,
    MemorandaError,
    PolicyRejected,
    RequiredContextSourceError,
    error_types,
)

KINDS = {"not_found", "conflict", "invalid", "refused", "over_limit", "gone", "unavailable"}


def test_every_code_belongs_to_one_error() -> None:
    codes = [error.code for error in error_types()]
    assert len(codes) == len(set(codes))


def test_there_are_seven_kinds_and_every_error_is_of_one() -> None:
    assert {error.kind for error in MemorandaError.__subclasses__()} == KINDS
    for kind in MemorandaError.__subclasses__():
        assert all(child.kind == kind.kind for child in error_types(kind))


def test_the_drawing_shows_every_error_with_its_code() -> None:
    drawn = dict(line.split()[-2:] for line in (errors.__doc__ or "").splitlines() if "──" in line)
    ours = {e.__name__: e.code for e in error_types() if e.__module__ == errors.__name__}
    assert drawn == ours


def test_an_error_keeps_its_message_and_details() -> None:
    error = Conflict("Read it again and retry.", version=3, text="as it is now")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    for one in (error, again):
        assert str(one) == "Read it again and retry."
        assert one.details == {"version": 3, "text": "as it is now"}


def test_a_rejected_policy_tells_each_reason_at_its_path() -> None:
    error = PolicyRejected.because([(("sources", 0, "limit"), "Too many."), ((), "No policy.")])
    assert error.rejections == ((("sources", 0, "limit"), "Too many."), ((), "No policy."))
    assert str(error).endswith("again. sources.0.limit: Too many; policy: No policy.")
    assert error.details["rejections"] == [
        {"path": ["sources", 0, "limit"], "message": "Too many."},
        {"path": [], "message": "No policy."},
    ]


def test_a_required_failure_names_every_source_in_order() -> None:
    error = RequiredContextSourceError.because({"memory": "timeout", "dossier": "missing"})
    assert error.sources == ("memory", "dossier")
    assert "memory, dossier" in str(error)
    assert error.details["reasons"] == {"memory": "timeout", "dossier": "missing"}
