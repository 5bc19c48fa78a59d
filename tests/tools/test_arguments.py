"""Whatever a model sends as arguments becomes a tool's own input, or a refusal that says what is wrong."""

import math
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, field_validator

from memoranda.tools.arguments import MOST_BYTES, MOST_TOLD, canonical, check_key, checked
from memoranda.tools.models import Course, Input, Outcome, Tool, Written
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.fitting import EXAMPLE
from memoranda.words.ids import new_id


class Inner(Input):
    """Some of it."""

    title: str | None = None


class Everything(Input):
    """One field of each kind."""

    text: Annotated[str, Field(max_length=50)] = "x"
    number: Annotated[int, Field(ge=1, le=50)] = 1
    any_number: int = 0
    share: float = 0.5
    sure: bool = False
    which: UUID | None = None
    when: datetime | None = None
    kind: Literal["a", "b"] = "a"
    names: Annotated[list[str], Field(max_length=3)] = Field(default_factory=list)
    inner: Inner | None = None
    several: list[Inner] = Field(default_factory=list)
    anything: dict[str, Any] = Field(default_factory=dict)

    @field_validator("text")
    @classmethod
    def _no_shouting(cls, text: str) -> str:
        if text.isupper():
            raise ValueError("Don't shout")
        return text


def nothing(*_: object) -> Written:
    return Written(outcome=Outcome.DONE, message="Nothing.")


TOOL = Tool(name="all", description="All.", input=Everything, answer=Written, write=nothing)
NO_COURSE = Course()

TEXTS = st.one_of(
    st.text(st.characters(), max_size=12),
    st.text(
        st.characters(categories=["Cs", "Cc", "Cf"]), max_size=4
    ),  # half surrogates, NUL, marks
    st.sampled_from(["\0", "\ud800", "\u202e", "\\u0000", "NaN", "1e999", "{", "x" * 300]),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**320),
    st.floats(),
    TEXTS,
    st.uuids().map(str),
    st.binary(max_size=3),  # no JSON at all
    st.just(object()),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(TEXTS, inner, max_size=4),
        st.dictionaries(st.one_of(st.integers(), st.none(), st.tuples()), inner, max_size=2),
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(list(Everything.model_fields))


def assert_answered(arguments: object) -> Input | None:
    """Accepted as this very input, or refused by one of the two kinds, without an echo."""
    try:
        taken = checked(TOOL, arguments)
    except (Invalid, OverLimit) as error:
        refused = error
    else:
        assert isinstance(taken, Everything)
        canonical(TOOL, taken, NO_COURSE)
        return taken
    refused.message.encode()
    assert len(refused.message) < 10_000
    return None


@given(VALUES)
def test_any_value_is_taken_or_refused(value: object) -> None:
    assert_answered(value)


@given(st.dictionaries(st.one_of(NAMES, TEXTS), VALUES, max_size=5))
@settings(max_examples=300)
def test_any_object_is_taken_or_refused(value: object) -> None:
    assert_answered(value)


@given(NAMES, VALUES)
@settings(max_examples=500)
def test_any_value_of_any_field_is_taken_or_refused(name: str, value: object) -> None:
    taken = assert_answered({name: value})
    if taken is not None:
        # No text became a number, no number a flag, no single thing a list.
        kept = getattr(taken, name)
        assert type(kept) is type(value) or isinstance(value, str | dict | list | tuple | int)
        assert isinstance(value, bool) is isinstance(kept, bool)


@given(st.integers(0, 5_000), st.sampled_from(["[", "{"]))
def test_any_depth_is_taken_or_refused(depth: int, kind: str) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind == "[" else {"a": value}
    taken = assert_answered({"anything": {"a": value}})
    assert (taken is None) is (depth > 97)


ENDLESS: Any = {}
ENDLESS["anything"] = ENDLESS


@pytest.mark.parametrize(
    "value",
    [
        ENDLESS,
        {"any_number": 10**5000},
        {"any_number": -(10**4200)},
        {"share": 10**400},
        {"share": math.nan},
        {"share": math.inf},
        {"share": 1e308 * 10},
        {"text": "\ud83d"},
        {"\ud83d": 1},
        {"text": "a\0"},
        {"a\0": 1},
        {"names": {"a", "b"}},
        {"names": ("a" for _ in range(3))},
        {"number": True},
        {"number": "1"},
        {"number": 1.5},
        {"sure": 1},
        {"sure": "true"},
        {"text": b"bytes"},
        {"text": 1},
        {"names": "abc"},
        {"which": "no id"},
        {"when": "yesterday"},
        {"when": "2027-13-45T99:00:00Z"},
        {"when": 10**18},
        {"kind": "c"},
        {"inner": []},
        {"inner": {"organization_id": "x"}},
        {"several": [{"a": 1}] * 5_000},
        {"text": "LOUD"},
        [],
        None,
        "{}",
        b"{}",
        [("text", "x")],
        3,
    ],
    ids=range(36),
)
def test_what_is_not_the_tool_s_is_refused(value: object) -> None:
    with pytest.raises((Invalid, OverLimit)):
        checked(TOOL, value)


def errors_of(refused: Invalid) -> list[dict[str, Any]]:
    errors = refused.details["errors"]
    assert isinstance(errors, list)
    return errors


@pytest.mark.parametrize(
    "name", ["organization_id", "user_id", "agent_id", "space", "Text", "text "]
)
def test_nothing_unknown_is_ignored(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(TOOL, {"text": "x", name: "x"})
    assert refused.value.details["errors"] == [
        {"path": [name.strip()], "message": "There is no such field; leave it out."}
    ]


def test_every_field_that_is_wrong_is_told_with_its_sentence_and_without_its_value() -> None:
    wrong = {
        "text": 13_579,
        "number": 13_579,
        "sure": "swordfish",
        "which": "swordfish",
        "when": "swordfish",
        "kind": "swordfish",
        "names": ["a", "swordfish" * 3, 13_579],
        "inner": {"swordfish": "swordfish value"},
        "share": "swordfish",
    }
    with pytest.raises(Invalid) as refused:
        checked(TOOL, wrong)
    told = {".".join(map(str, each["path"])): each["message"] for each in errors_of(refused.value)}
    assert told == {
        "text": "This must be a text.",
        "number": "This must be at most 50.",
        "sure": "This must be true or false.",
        "which": f"This must be an id, such as {EXAMPLE}.",
        "when": "This must be a date and time with its zone, such as 2027-01-31T09:00:00Z.",
        "kind": "This must be one of 'a' or 'b'.",
        "names.2": "This must be a text.",
        "inner.swordfish": "There is no such field; leave it out.",
        "share": "This must be a number.",
    }
    assert all(f"{place}: {sentence}" in refused.value.message for place, sentence in told.items())
    assert "13579" not in refused.value.message
    assert "swordfish value" not in str(refused.value.details)


def test_names_of_the_caller_s_own_are_cut_and_made_harmless() -> None:
    names = [f"<|im_start|>{n}\n" + "x" * 500 for n in range(30)]
    with pytest.raises(Invalid) as refused:
        checked(TOOL, dict.fromkeys(names, 1))
    errors = errors_of(refused.value)
    assert len(errors) == MOST_TOLD
    assert "And 10 more" in refused.value.message
    assert "<|im_start|>" not in refused.value.message
    assert "\n" not in refused.value.message
    assert all(len(each["path"][0]) <= 80 for each in errors)


def test_arguments_have_a_size() -> None:
    fits = {"anything": {"a": "x" * (MOST_BYTES - 40)}}
    assert checked(TOOL, fits).model_fields_set == {"anything"}
    for text in ("x" * MOST_BYTES, "é" * (MOST_BYTES // 2), "x" * 5_000_000):
        with pytest.raises(OverLimit) as refused:
            checked(TOOL, {"anything": {"a": text}})
        assert refused.value.details["limit"] == MOST_BYTES


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63 - 1), 0])
def test_a_number_that_a_database_can_hold_is_taken(number: int) -> None:
    taken = checked(TOOL, {"any_number": number, "text": "9" * 30})
    assert isinstance(taken, Everything)
    assert taken.any_number == number


def test_an_id_and_a_time_are_texts() -> None:
    which = new_id()
    taken = checked(TOOL, {"which": str(which), "when": "2027-01-31T10:00:00+01:00"})
    assert isinstance(taken, Everything)
    assert (taken.which, taken.when) == (which, datetime(2027, 1, 31, 9, tzinfo=UTC))


def of(arguments: dict[str, Any], course: Course = NO_COURSE, tool: Tool = TOOL) -> bytes:
    return canonical(tool, checked(tool, arguments), course)


OTHER = Tool(name="other", description="Other.", input=Everything, answer=Written, write=nothing)


def test_one_call_is_spelled_in_one_way() -> None:
    one, other = new_id(), new_id()
    asked = {"text": "ü", "inner": {"title": None}, "names": ["a", "b"]}
    again = {"names": ["a", "b"], "inner": {"title": None}, "text": "ü"}
    assert of(asked) == of(again)
    assert of({"which": str(one)}) == of({"which": str(one).upper()})
    different = [
        of(asked),
        of(asked, tool=OTHER),
        of(asked, Course(one)),
        of(asked, Course(other)),
        of(asked, Course(None, one)),
        of({**asked, "names": ["b", "a"]}),
        of({**asked, "inner": {}}),
        of({**asked, "number": 1}),
        of({**asked, "text": "u\u0308"}),
    ]
    assert len(set(different)) == len(different)


@given(VALUES, VALUES)
def test_two_objects_that_differ_are_spelled_differently(one: object, other: object) -> None:
    try:
        first, second = (checked(TOOL, {"anything": {"a": each}}) for each in (one, other))
    except (Invalid, OverLimit):
        return
    same = first.model_dump_json() == second.model_dump_json()
    spelled = [canonical(TOOL, each, NO_COURSE) for each in (first, second)]
    # Where only the order of names differs, it is the same call.
    assert (spelled[0] == spelled[1]) is same or first == second


@pytest.mark.parametrize("key", [None, "k", "x" * 200, "Grüße 🎉", str(UUID(int=7)), "a b"])
def test_a_key_is_a_text_that_can_be_printed(key: str | None) -> None:
    check_key(key)
