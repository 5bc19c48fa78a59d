"""Old results make room, and every call stays answered."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.calls import latest_turn
from memoranda.conversations.clearing import PLACEHOLDER, clear_results, is_cleared
from memoranda.conversations.models import Message
from memoranda.conversations.sizes import total_bytes
from tests.conversations.transcripts import (
    LONG_TEXTS,
    answering,
    asking,
    blocks,
    call,
    open_calls,
    result,
    says,
    turns,
)

BUDGETS = st.integers(500, 20_000)


def turn(number: int, size: int, calls: int = 1) -> list[Message]:
    ids = [f"c{number}.{each}" for each in range(calls)]
    return [
        says("user", f"question {number}"),
        asking(*map(call, ids)),
        *(answering(result(each, f"{number}" * size)) for each in ids),
        says("assistant", f"answer {number}"),
    ]


def contents(messages: list[Message]) -> list[Any]:
    return [block["content"] for each in messages if each.role == "tool" for block in blocks(each)]


@given(turns(LONG_TEXTS), BUDGETS)
def test_clearing_twice_changes_nothing(messages: list[Message], budget: int) -> None:
    once = clear_results(messages, budget)
    assert clear_results(once, budget) is once


@given(turns(LONG_TEXTS), BUDGETS)
def test_every_call_stays_answered_under_its_id_and_name(
    messages: list[Message], budget: int
) -> None:
    cleared = clear_results(messages, budget)
    assert open_calls(cleared) == []
    for before, after in zip(messages, cleared, strict=True):
        if before.role != "tool":
            assert after is before
        for one, other in zip(blocks(before), blocks(after), strict=True):
            assert other["type"] == one["type"]
            assert other.get("tool_call_id") == one.get("tool_call_id")
            assert other.get("name") == one.get("name")


@given(turns(LONG_TEXTS), BUDGETS)
def test_the_latest_turn_is_never_cleared(messages: list[Message], budget: int) -> None:
    start = latest_turn(messages)
    cleared = clear_results(messages, budget)[start:]
    assert not any(is_cleared(block) for each in cleared for block in blocks(each))
    if total_bytes(messages[start:]) <= budget:
        assert cleared == messages[start:]


@given(turns(LONG_TEXTS), BUDGETS)
def test_results_are_cleared_oldest_first_and_no_further_than_half(
    messages: list[Message], budget: int
) -> None:
    cleared = clear_results(messages, budget)
    changed = [
        (place, number)
        for place, (before, after) in enumerate(zip(messages, cleared, strict=True))
        for number, block in enumerate(blocks(after))
        if is_cleared(block) and block != blocks(before)[number]
    ]
    if not changed or total_bytes(messages[latest_turn(messages) :]) > budget:
        return
    # Put the last one back: the half was not reached yet.
    place, number = changed[-1]
    content = [*blocks(cleared[place])]
    content[number] = blocks(messages[place])[number]
    one_less = [*cleared]
    one_less[place] = cleared[place].model_copy(update={"content": content})
    assert total_bytes(one_less) > budget // 2


@given(turns(), st.integers(0, 100))
def test_what_is_within_comes_back_as_the_same_object(messages: list[Message], more: int) -> None:
    assert clear_results(messages, total_bytes(messages) + more) is messages


def test_it_goes_down_to_half_so_that_the_next_turns_are_sent_the_same() -> None:
    messages = [message for number in range(8) for message in turn(number, 1_000)]
    cleared = clear_results(messages, 8_000)
    assert total_bytes(cleared) <= 4_000
    assert contents(cleared)[0] == PLACEHOLDER
    assert contents(cleared)[-2:] == ["6" * 1_000, "7" * 1_000]
    longer = [*cleared, *turn(8, 1_000), *turn(9, 1_000)]
    assert clear_results(longer, 8_000) is longer


def test_where_the_latest_turn_alone_is_too_large_its_results_share_one_cut() -> None:
    messages = [*turn(0, 100), *turn(1, 5_000, calls=3), answering(result("c1.0", "short"))]
    cleared = clear_results(messages, 9_000)
    assert total_bytes(cleared[latest_turn(cleared) :]) <= 9_000
    lengths = [len(text) for text in contents(cleared)[1:]]
    assert lengths[0] == lengths[1] == lengths[2] > 2_000
    assert contents(cleared)[-1] == "short"


def test_what_a_result_was_beside_its_content_is_kept() -> None:
    block = result("a", "x" * 2_000, is_error=True, extra={"type": "custom_tool_call_output"})
    messages = [says("user", "q"), asking(call("a")), answering(block), says("user", "next")]
    [left] = blocks(clear_results(messages, 1_000)[2])
    assert left == {**block, "content": PLACEHOLDER}
