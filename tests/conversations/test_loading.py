"""What is loaded is made ready only where something has to change, and then as `replayable` does."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.content import written
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.loading import answered_in_place, ready
from memoranda.conversations.models import Message, Role
from memoranda.conversations.seeding import replayable
from memoranda.conversations.store import _MESSAGES, Everything
from tests.conversations.test_content import CONTENT, order_of

IDS = st.sampled_from("ab")
BLOCKS = st.one_of(
    st.just({"type": "text", "text": "tool_call"}),
    st.builds(lambda id_: {"type": "tool_call", "id": id_, "name": "f", "arguments": "{"}, IDS),
    st.builds(lambda id_: {"type": "tool_result", "tool_call_id": id_, "content": "x"}, IDS),
)
ROLES: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "tool", "system"])
MESSAGES = st.builds(
    Message, role=ROLES, content=st.one_of(st.just("tool_"), st.lists(BLOCKS, max_size=3))
)


def everything(messages: list[Message]) -> Everything:
    texts = [written(each.content) for each in messages]
    return Everything(
        messages,
        [place for place, text in enumerate(texts) if '"tool_' in text],
        max(map(len, texts), default=0),
    )


@given(st.lists(MESSAGES, max_size=7))
def test_what_is_said_to_be_answered_in_its_place_needs_no_change(messages: list[Message]) -> None:
    there = everything(messages)
    if answered_in_place(messages, there.of_tools):
        assert replayable(messages) is messages


@given(st.lists(MESSAGES, max_size=7))
def test_it_is_ready_as_if_every_message_had_been_looked_at(messages: list[Message]) -> None:
    assert ready(everything(messages), 100, ConversationLimits()) == replayable(messages)


def test_a_call_with_its_result_right_after_it_is_plain_to_see() -> None:
    call = {"type": "tool_call", "id": "a", "name": "f", "arguments": ""}
    result = {"type": "tool_result", "tool_call_id": "a", "content": ""}
    messages = [
        Message(role="assistant", content=[call]),
        Message(role="tool", content=[result]),
    ] * 2
    assert answered_in_place(messages, everything(messages).of_tools)
    assert ready(everything(messages), 100, ConversationLimits()) is messages


def test_long_results_and_large_lists_are_cut_as_ever() -> None:
    call = {"type": "tool_call", "id": "a", "name": "f", "arguments": ""}
    result = {"type": "tool_result", "tool_call_id": "a", "content": "x" * 2_000}
    messages = [
        Message(role="assistant", content=[call]),
        Message(role="tool", content=[result]),
        Message(role="user", content="go on"),
    ]
    there = everything(messages)
    for limits in (ConversationLimits(result_chars=500), ConversationLimits(seed_bytes=1_000)):
        made = ready(there, 2_100, limits)
        assert made != messages
        assert made == replayable(
            messages, result_chars=limits.result_chars, budget=limits.seed_bytes
        )


@given(CONTENT, st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), CONTENT))
def test_what_is_read_all_at_once_is_what_was_written(content: Any, metadata: Any) -> None:
    given_ = Message(role="user", content=content, metadata=metadata)
    text = f'[{{"role":"user","content":{written(content)},"metadata":{written(metadata)}}}]'
    (found,) = _MESSAGES.validate_json(text)
    assert order_of(found.content) == order_of(given_.content)
    assert order_of(found.metadata) == order_of(given_.metadata)
    assert json.loads(text)[0]["content"] == found.content
