"""Lines and messages are put together right, wherever the network cuts them."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.client.errors import UnexpectedAnswer
from memoranda.client.streams import Lines, Message, Messages, told, whole_line
from memoranda.runs.events.models import Event, Mark, Reset

STREAM = (
    'retry: 500\nid: 1\n\n: still here\n\nid: 2\nevent: memory.updated\ndata: {"a":\ndata: 1}\n\r\n'
    "event: reset\ndata:x\n\nid: 3\n\nevent: nothing\n\ndata: torn\n"
)
MESSAGES = [
    Message("1", "message", None),
    Message("2", "memory.updated", '{"a":\n1}'),
    Message(None, "reset", "x"),
    Message("3", "message", None),
]


def parts_of(whole: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
    return [whole[begin:end] for begin, end in pairwise(places)]


def lines_of(parts: list[bytes]) -> list[str]:
    lines = Lines()
    found = [line for part in parts for line in lines.feed(part)]
    lines.check_ended()
    return found


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
    st.lists(st.integers(0, 10_000), max_size=8),
)
def test_lines_come_out_as_they_went_in(lines: list[str], cuts: list[int]) -> None:
    whole = "".join(f"{line}\n" for line in lines).encode()
    assert lines_of(parts_of(whole, cuts)) == lines


@given(st.integers(0, 10_000))
def test_what_ends_amid_a_line_is_not_whole(cut: int) -> None:
    whole = b'{"a":1}\n{"b":2}\n'
    part = whole[: cut % len(whole)]
    if part in {b"", whole[:8]}:
        return
    with pytest.raises(UnexpectedAnswer, match="amid a line"):
        lines_of([part])


@pytest.mark.parametrize("line", ["{", "}", "null", '[{"a":1}]', '{"a":1', "<html>", " "])
def test_a_line_that_is_no_object_is_none_of_an_answer(line: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="none of this API"):
        whole_line(line)
    assert whole_line('{"a":1}') == '{"a":1}'


@given(st.lists(st.integers(0, 10_000), max_size=8))
def test_messages_are_read_wherever_they_are_cut_and_a_torn_one_is_dropped(cuts: list[int]) -> None:
    messages = Messages()
    found = [messages.feed(line) for line in lines_of(parts_of(STREAM.encode(), cuts))]
    assert [each for each in found if each is not None] == MESSAGES
    assert messages.retry_s == 0.5


def test_what_is_told_is_a_change_a_place_or_that_some_is_gone() -> None:
    event = Event(
        number=2,
        type="memory.updated",
        user_id=None,
        agent_id=None,
        metadata={"a": 1},
        created_at=datetime.now(UTC),
    )
    newer = event.model_dump_json()[:-1] + ',"color":"green"}'
    assert told(Message("2", "memory.updated", newer)) == event
    assert told(Message("7", "message", None)) == Mark(7)
    assert told(Message("9", "reset", '{"number": 9, "detail": "Load anew."}')) == Reset(9)


@pytest.mark.parametrize(
    "message", [Message("x", "message", None), Message("1", "x", "{}"), Message("1", "reset", "no")]
)
def test_a_message_of_another_api_is_an_unexpected_answer(message: Message) -> None:
    with pytest.raises(UnexpectedAnswer):
        told(message)
