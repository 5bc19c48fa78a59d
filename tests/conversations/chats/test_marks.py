"""What the marks of lists promise: they name what is said, whatever prompts stand around it."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.chats.branches.marks import (
    Line,
    Mark,
    kept_upto,
    lines_of,
    mark_of,
)
from memoranda.conversations.models import Message

ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
LISTS = st.lists(st.builds(Line, ROLES, st.sampled_from("abc")), max_size=8)


def line(role: str, digest: str = "x") -> Line:
    return Line(role, digest)


def test_a_list_that_goes_on_is_cut_where_it_was() -> None:
    talk = [line("user", "a"), line("assistant", "b")]
    assert kept_upto([*talk, line("user", "c")], mark_of(talk)) == 2


def test_another_prompt_in_front_makes_no_difference() -> None:
    talk = [line("user", "a"), line("assistant", "b")]
    mark = mark_of([line("system", "old"), *talk])
    assert mark == mark_of(talk)
    assert kept_upto([line("system"), line("developer"), *talk, line("user")], mark) == 4


def test_what_was_said_otherwise_since_is_not_the_same_list() -> None:
    mark = mark_of([line("user", "a"), line("assistant", "b")])
    assert kept_upto([line("user", "a"), line("assistant", "other")], mark) is None
    assert kept_upto([line("user", "a")], mark) is None


def test_a_developer_who_speaks_in_the_middle_is_said() -> None:
    talk = [line("user", "a"), line("developer", "b")]
    assert mark_of(talk).length == 2
    assert kept_upto([line("user", "a"), line("developer", "c")], mark_of(talk)) is None


def test_before_anything_was_said_nothing_is_kept() -> None:
    assert mark_of([line("system")]) == Mark(0, "")
    assert kept_upto([line("system"), line("user")], Mark(0, "")) == 0


def test_the_time_of_a_message_is_in_no_mark() -> None:
    said = Message(role="user", content="a")
    assert mark_of(lines_of([said])) == mark_of(
        lines_of([said.model_copy(update={"pinned": True})])
    )


@given(LISTS, LISTS)
def test_a_list_is_cut_to_itself_whatever_follows(talk: list[Line], more: list[Line]) -> None:
    more = [line("user"), *more]
    kept = kept_upto([*talk, *more], mark_of(talk))
    assert kept is not None
    assert mark_of([*talk, *more][:kept]) == mark_of(talk)
