"""What broke off is closed so that a provider takes it again, and what is whole is not touched."""

from typing import Any

import pytest
from hypothesis import given

from memoranda.conversations.endings import (
    NOT_RUN,
    NOT_WHOLE,
    UNANSWERED,
    close_unanswered_tool_calls,
    drop_unasked_results,
    mark_stopped,
)
from memoranda.conversations.models import Message
from tests.conversations.transcripts import (
    answering,
    asking,
    blocks,
    broken,
    call,
    open_calls,
    result,
    says,
    turns,
)


def closed(messages: list[Message]) -> list[Message]:
    return drop_unasked_results(close_unanswered_tool_calls(messages))


@given(turns())
def test_a_closed_list_comes_back_as_the_same_object(messages: list[Message]) -> None:
    before = [message.model_copy(deep=True) for message in messages]
    assert close_unanswered_tool_calls(messages) is messages
    assert drop_unasked_results(messages) is messages
    assert messages == before


@given(broken())
def test_whatever_broke_off_every_call_is_answered_once_and_nothing_else_is(
    messages: list[Message],
) -> None:
    assert open_calls(closed(messages)) == []


@given(broken())
def test_closing_twice_changes_nothing(messages: list[Message]) -> None:
    once = closed(messages)
    assert closed(once) is once


@given(broken())
def test_nothing_that_was_said_is_lost_or_reordered(messages: list[Message]) -> None:
    def said(of: list[Message]) -> list[Any]:
        return [message for message in of if message.role != "tool"]

    assert said(closed(messages)) == said(messages)


def test_open_calls_are_answered_after_the_results_that_there_are() -> None:
    messages = [
        says("user", "both"),
        asking(call("a"), call("b", "send"), call("c")),
        answering(result("b")),
    ]
    last = close_unanswered_tool_calls(messages)[-1]
    assert [message.role for message in close_unanswered_tool_calls(messages)[:3]] == [
        "user",
        "assistant",
        "tool",
    ]
    assert blocks(last) == [
        {
            "type": "tool_result",
            "tool_call_id": each,
            "name": "look_up",
            "content": UNANSWERED,
            "is_error": True,
        }
        for each in ("a", "c")
    ]


def test_a_call_that_broke_off_itself_was_not_run_and_of_others_nobody_says_so() -> None:
    half = {**call("b"), "arguments": '{"q', "stopped": True}
    messages = [says("user", "both"), asking(call("a"), half)]
    found = close_unanswered_tool_calls(messages)
    told = {block["tool_call_id"]: block["content"] for block in blocks(found[-1])}
    assert told == {"a": UNANSWERED, "b": NOT_WHOLE}
    assert "may have run" in UNANSWERED
    assert "was not run" in NOT_WHOLE
    again = close_unanswered_tool_calls(messages, NOT_RUN)
    assert [block["content"] for block in blocks(again[-1])] == [NOT_RUN, NOT_WHOLE]
    for loaded in (found, again):
        own = answering(result("a", "12C"), result("b", "7"))
        after = closed([*loaded, own])
        assert [each for each in after if each.role == "tool"] == [own]


def test_a_result_that_came_late_is_moved_to_its_call() -> None:
    messages = [
        asking(call("a")),
        says("user", "never mind"),
        answering(result("a", "late")),
        says("assistant", "fine"),
    ]
    assert close_unanswered_tool_calls(messages) == [
        messages[0],
        answering(result("a", "late")),
        messages[1],
        messages[3],
    ]


@pytest.mark.parametrize("between", [[], [says("user", "Go on.")]])
def test_a_result_that_came_after_all_takes_the_place_of_what_stood_in_for_it(
    between: list[Message],
) -> None:
    begun = [says("user", "How warm is it?"), asking(call("c1"), call("c2"))]
    loaded = close_unanswered_tool_calls([*begun, answering(result("c2", "7"))])
    own = answering(result("c1", "12C"))
    after = closed([*loaded, *between, own, says("assistant", "Twelve.")])
    results = [block for message in after if message.role == "tool" for block in blocks(message)]
    told = {block["tool_call_id"]: block["content"] for block in results}
    assert told == {"c1": "12C", "c2": "7"}
    assert len(results) == len(told)
    assert closed(after) is after


def test_what_stood_in_for_a_result_stays_where_the_id_is_used_again() -> None:
    first = close_unanswered_tool_calls([says("user", "One."), asking(call("c1"))])
    again = [*first, says("user", "Two."), asking(call("c1")), answering(result("c1", "12C"))]
    assert close_unanswered_tool_calls(again) is again


@pytest.mark.parametrize("there", [(), (result("a"),)])
@pytest.mark.parametrize("also", ["gone", "b", "a"])
def test_what_a_user_says_beside_a_result_that_nobody_asked_for_comes_after_all_answers(
    there: tuple[Any, ...], also: str
) -> None:
    words = {"type": "text", "text": "never mind"}
    beside = Message(role="user", content=[result("gone"), words, result(also), result("gone")])
    messages = [asking(call("a"), call("b")), *map(answering, there), beside]
    found = closed(messages)
    said = [
        str(block.get("text") or block.get("tool_call_id"))
        for each in found[1:]
        for block in blocks(each)
    ]
    assert sorted(each for each in said if each != "never mind") == ["a", "b"]
    assert found[0] is messages[0]
    if also == "gone":
        assert found[-1] == Message(role="user", content=[words])
    assert closed(found) is found


def test_an_id_that_is_used_again_is_another_call() -> None:
    messages = [
        asking(call("call_0")),
        says("user", "again"),
        asking(call("call_0")),
        answering(result("call_0", "second")),
    ]
    found = closed(messages)
    assert [blocks(each)[0]["content"] for each in found if each.role == "tool"] == [
        UNANSWERED,
        "second",
    ]


def test_results_whose_calls_were_cut_off_in_front_are_left_out() -> None:
    messages = [answering(result("gone")), answering(result("x"), result("y")), says("user", "hi")]
    assert closed(messages) == [says("user", "hi")]


def test_the_answer_may_be_another_one() -> None:
    found = close_unanswered_tool_calls([asking(call("a"))], "not run")
    assert blocks(found[-1])[0]["content"] == "not run"


@pytest.mark.parametrize(
    ("content", "marked"),
    [
        ("Ships lea", [{"type": "text", "text": "Ships lea", "stopped": True}]),
        ("", ""),
        ([], []),
        (
            [{"type": "text", "text": "one"}, {"type": "text", "text": "tw"}],
            [
                {"type": "text", "text": "one"},
                {"type": "text", "text": "tw", "stopped": True},
            ],
        ),
        (
            [{"type": "thinking", "thinking": "hm"}],
            [{"type": "thinking", "thinking": "hm", "stopped": True}],
        ),
        ([call("a", arguments='{"q')], [call("a", arguments='{"q')]),
    ],
)
def test_a_stopped_answer_is_kept_as_far_as_it_went_and_marked(content: Any, marked: Any) -> None:
    messages = [says("user", "go"), Message(role="assistant", content=content)]
    found = mark_stopped(messages)
    assert found[0] is messages[0]
    assert found[1].content == marked
    assert found[1].metadata == {"stopped": True}
    assert mark_stopped(found) is found


def test_where_no_answer_had_begun_nothing_is_marked() -> None:
    for messages in ([], [says("user", "go")], [asking(call("a")), answering(result("a"))]):
        assert mark_stopped(messages) is messages


def test_what_is_known_of_a_stopped_answer_is_kept() -> None:
    known = {"provider": "anthropic", "model": "m"}
    messages = [Message(role="assistant", content="Ships", metadata=known)]
    assert mark_stopped(messages)[0].metadata == {**known, "stopped": True}
    assert messages[0].metadata == known
