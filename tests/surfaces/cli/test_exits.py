"""Every kind of error has its exit code, and each code its meaning."""

from typing import get_args

import pytest

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Choices
from memoranda.surfaces.cli.verbs import answered
from memoranda.words.errors import ErrorKind, MemorandaError, PolicyRejected, error_types


def test_every_kind_of_error_has_an_exit_code_of_its_own() -> None:
    assert set(exits.BY_KIND) == set(get_args(ErrorKind))
    codes = [*exits.BY_KIND.values(), exits.DONE, exits.DEFECT, exits.USAGE]
    codes += [exits.UNSUCCESSFUL, exits.INTERRUPTED]
    assert len(set(codes)) == len(codes)
    assert set(exits.MEANINGS) == set(codes)


@pytest.mark.parametrize("error", list(error_types()))
def test_every_error_ends_in_the_code_of_its_kind(
    error: type[MemorandaError], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> Answer:
        raise error("It went wrong; try the other way.")

    assert answered(fail, Choices()) == exits.BY_KIND[error.kind]
    assert "It went wrong; try the other way." in capsys.readouterr().err


def test_a_problem_in_json_keeps_its_fields_whatever_the_error_carries() -> None:
    error = PolicyRejected("No.", code="mine", detail="mine", line=3)
    problem = exits.problem(error)
    assert problem["code"] == "policy_rejected"
    assert problem["detail"] == "No."
    assert problem["line"] == 3


def test_what_nobody_foresaw_is_a_sentence_and_no_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> Answer:
        raise KeyError("the password is swordfish")

    assert answered(fail, Choices()) == exits.DEFECT
    told = capsys.readouterr().err
    assert "KeyError" in told
    assert "Traceback" not in told
    assert "swordfish" not in told


def test_a_traceback_is_shown_to_who_asks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> Answer:
        raise KeyError("x")

    assert answered(fail, Choices(traceback=True)) == exits.DEFECT
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupted_command_ends_with_130() -> None:
    def fail() -> Answer:
        raise KeyboardInterrupt

    assert answered(fail, Choices()) == exits.INTERRUPTED
