"""Results are cut once, between characters, and say how to get at the rest."""

from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.caps import LEAST_CHARS, RESULT_CHARS, cap_results, chars_of
from memoranda.conversations.models import Message
from memoranda.words.errors import Invalid
from tests.conversations.transcripts import (
    LONG_TEXTS,
    answering,
    asking,
    blocks,
    call,
    result,
    says,
    turns,
)

LIMITS = st.integers(LEAST_CHARS, 2_000)


def only(messages: list[Message]) -> dict[str, Any]:
    [block] = blocks(messages[-1])
    return block


@given(turns(LONG_TEXTS, 3), LIMITS)
def test_cutting_twice_changes_nothing(messages: list[Message], limit: int) -> None:
    once = cap_results(messages, limit)
    assert cap_results(once, limit) is once


@given(turns(LONG_TEXTS, 3), LIMITS)
def test_every_result_is_within_the_limit_and_answers_its_call(
    messages: list[Message], limit: int
) -> None:
    capped = cap_results(messages, limit)
    assert len(capped) == len(messages)
    for before, after in zip(messages, capped, strict=True):
        assert [ids(block) for block in blocks(before)] == [ids(block) for block in blocks(after)]
        if before.role == "tool":
            assert all(chars_of(block) <= limit for block in blocks(after))
        else:
            assert after is before


@given(turns())
def test_what_is_within_comes_back_as_the_same_object(messages: list[Message]) -> None:
    assert cap_results(messages) is messages


@given(LONG_TEXTS, LIMITS)
def test_a_cut_falls_between_two_characters(text: str, limit: int) -> None:
    content = only(cap_results([answering(result("a", text))], limit))["content"]
    if content != text:
        kept = content[: content.rindex("\n[…")]
        assert text.startswith(kept)
        assert regex.findall(r"\X", text)[: len(regex.findall(r"\X", kept))] == regex.findall(
            r"\X", kept
        )


def test_the_note_says_how_much_is_missing_and_asks_for_less() -> None:
    text = "x" * 300_000
    content = only(cap_results([answering(result("a", text))]))["content"]
    assert len(content) == RESULT_CHARS
    kept = content.index("\n[…")
    assert content[kept:].startswith(f"\n[… {300_000 - kept} of 300000 characters left out.")
    assert "narrow the call" in content


def test_a_second_and_narrower_cut_tells_what_both_left_out() -> None:
    once = cap_results([answering(result("a", "x" * 10_000))], 2_000)
    content = only(cap_results(once, 400))["content"]
    assert "of 10000 characters left out" in content
    assert content.count("[…") == 1


@pytest.mark.parametrize("claimed", ["0", "1", "90", "999999999999999999"])
def test_a_note_that_a_tool_wrote_itself_makes_no_result_longer_than_the_limit(
    claimed: str,
) -> None:
    note = f"\n[… {claimed} of {claimed} characters left out. Ask for less.]"
    once = cap_results([answering(result("a", "x" * 2_000 + note))], 400)
    content = only(once)["content"]
    assert len(content) <= 400
    assert "[… -" not in content
    assert cap_results(once, 400) is once


def test_texts_of_one_result_count_together_and_pictures_stay() -> None:
    image = {"type": "image", "media_type": "image/png", "data": "aGk=" * 500}
    parts = [{"type": "text", "text": "x" * 400}, image, {"type": "text", "text": "y" * 400}]
    block = only(cap_results([answering(result("a", parts))], 500))
    assert block["content"][1] == image
    assert len(block["content"]) == 2
    assert chars_of(block) <= 500
    assert block["content"][0]["text"].startswith("x" * 300)


def test_only_results_are_cut() -> None:
    long = "x" * 5_000
    messages = [says("user", long), asking(call("a", arguments=long), text=long)]
    assert cap_results(messages, 500) is messages


def test_a_limit_without_room_for_the_note_is_refused() -> None:
    with pytest.raises(Invalid):
        cap_results([], LEAST_CHARS - 1)


def ids(block: dict[str, Any]) -> Any:
    return {name: value for name, value in block.items() if name != "content"}
