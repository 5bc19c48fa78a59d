"""What a run begins with, and what a stored conversation is before it is sent."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.models import Message
from memoranda.conversations.seeding import replayable, seed
from memoranda.conversations.sizes import total_bytes
from tests.conversations.transcripts import (
    LONG_TEXTS,
    answering,
    asking,
    broken,
    call,
    open_calls,
    says,
    turns,
)

STORED = [says("system", "old prompt"), says("user", "hello"), says("assistant", "hi")]


def test_a_fresh_firing_has_its_own_prompt_what_was_said_and_its_own_message_last() -> None:
    assert seed("new prompt", STORED, "and now?") == [
        says("system", "new prompt"),
        *STORED[1:],
        says("user", "and now?"),
    ]


def test_a_carried_transcript_goes_before_everything_and_is_not_touched() -> None:
    carried = [says("user", "hello"), asking(call("a"))]
    assert seed("new prompt", STORED, "and now?", carried) == carried
    assert seed("new prompt", STORED, "and now?", []) == []


def test_without_anything_stored_it_is_the_prompt_and_the_message() -> None:
    assert seed("prompt", [], "go") == [says("system", "prompt"), says("user", "go")]
    assert seed(None, [], "go") == [says("user", "go")]


def test_prompts_of_earlier_firings_are_never_seeded_again() -> None:
    stored = [says("developer", "old"), *STORED, says("system", "note"), says("developer", "note")]
    found = seed(says("developer", "new"), stored, says("user", "go", pinned=True))
    assert found == [
        says("developer", "new"),
        *STORED[1:],
        says("developer", "note"),
        says("user", "go", pinned=True),
    ]


@given(broken())
def test_what_was_stored_can_be_sent_again(messages: list[Message]) -> None:
    assert open_calls(replayable(messages)) == []


@given(turns())
def test_what_is_whole_and_small_is_the_same_object(messages: list[Message]) -> None:
    assert replayable(messages) is messages


@given(turns(LONG_TEXTS), st.integers(300, 3_000), st.integers(1_000, 30_000))
def test_preparing_twice_changes_nothing(
    messages: list[Message], result_chars: int, budget: int
) -> None:
    once = replayable(messages, result_chars=result_chars, budget=budget)
    assert replayable(once, result_chars=result_chars, budget=budget) is once


def test_a_run_is_seeded_with_no_more_than_its_budget_where_results_are_what_is_large() -> None:
    messages = [
        message
        for number in range(30)
        for message in (
            says("user", "q"),
            asking(call(f"c{number}")),
            answering(
                {"type": "tool_result", "tool_call_id": f"c{number}", "content": "x" * 90_000}
            ),
        )
    ]
    assert total_bytes(messages) > 2_500_000
    assert total_bytes(replayable(messages)) <= 1_000_000
