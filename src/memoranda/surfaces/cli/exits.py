"""The one table from what went wrong to the exit code that a script sees."""

from collections.abc import Mapping
from typing import Final

from memoranda.words.errors import ErrorKind, MemorandaError, PolicyRejected, dotted
from memoranda.words.text import neutral_line

DONE: Final = 0
DEFECT: Final = 1
USAGE: Final = 2
UNSUCCESSFUL: Final = 10
INTERRUPTED: Final = 130

BY_KIND: Final[Mapping[ErrorKind, int]] = {
    "not_found": 3,
    "conflict": 4,
    "invalid": 5,
    "refused": 6,
    "over_limit": 7,
    "gone": 8,
    "unavailable": 9,
}

MEANINGS: Final[Mapping[int, str]] = {
    DONE: "done",
    DEFECT: "something broke that should not: a defect of Memoranda",
    USAGE: "the command line itself is wrong: an unknown option, a missing or misshapen value",
    BY_KIND["not_found"]: "nothing with that name or id is there, or no such file",
    BY_KIND["conflict"]: "the state moved on; read it again and decide anew",
    BY_KIND["invalid"]: "the input breaks a stated rule, and would again",
    BY_KIND["refused"]: "not allowed for this caller, or on this database",
    BY_KIND["over_limit"]: "larger or more often than a stated limit",
    BY_KIND["gone"]: "it was there, and can't be answered truthfully any more",
    BY_KIND["unavailable"]: "a part that the answer needs did not work; trying again may help",
    UNSUCCESSFUL: "it ran to its end, and the result is a failure: a source that could not be "
    "ingested, a doctor that found a fault",
    INTERRUPTED: "interrupted from the keyboard",
}


def code_of(error: MemorandaError) -> int:
    """The exit code for an error, by its kind."""
    return BY_KIND[error.kind]


def problem(error: MemorandaError) -> dict[str, object]:
    """What `--json` prints about an error: its stable code and its sentence, beside what it carries."""
    fixed: dict[str, object] = {
        "code": error.code,
        "kind": error.kind,
        "detail": sentence(error),
        "retryable": error.retryable,
        "exit_code": code_of(error),
    }
    return {**fixed, **{name: each for name, each in error.details.items() if name not in fixed}}


def sentence(error: MemorandaError) -> str:
    """The error's sentence; where that names calls in Python, with the commands in their place."""
    if error.code == "run_in_progress" and "run_id" in error.details:
        return _in_progress(error.details["run_id"], error.details["status"])
    return error.message


def _in_progress(run: object, status: object) -> str:
    stops = "" if status == "stopping" else f", or stop it with `memoranda chats stop {run}`"
    return (
        f"The run {run} of this chat is {status}: wait until it has ended{stops}. Where whoever answered it is gone, "
        f"end it with `memoranda chats fail {run} REASON`, or with `memoranda chats answer {run} TEXT --stopped` "
        "for what it came to."
    )


def told(error: MemorandaError) -> str:
    """What a person is told about an error: its sentence, and each reason against a policy on a line."""
    if not isinstance(error, PolicyRejected) or not error.rejections:
        return sentence(error)
    reasons = (neutral_line(f"{dotted(path)}: {why}") for path, why in error.rejections)
    return "\n  ".join((error.ADVICE, *reasons))


def help_text() -> str:
    """The table as one line, for the end of the help page."""
    return "Exit codes: " + ", ".join(f"{code} {brief_of(code)}" for code in MEANINGS) + "."


def brief_of(code: int) -> str:
    """The few words that the help page has room for."""
    named = {
        DONE: "done",
        DEFECT: "a defect",
        USAGE: "wrong usage",
        UNSUCCESSFUL: "ended in failure",
        INTERRUPTED: "interrupted",
    }
    kinds = {number: kind.replace("_", " ") for kind, number in BY_KIND.items()}
    return (named | kinds)[code]
