"""How full a window will be, when earlier turns are to be compacted, and that neither counts what was used."""

import pytest

from memoranda.conversations.compaction.planning import due
from memoranda.conversations.models import Message
from memoranda.conversations.pressure import Pressure, pressure
from memoranda.words.errors import Invalid
from memoranda.words.tokens import estimate_tokens
from tests.conversations.transcripts import says

TALK = [says("user", "x" * 384), says("assistant", "y" * 384), says("user", "z" * 384)]


def found(messages: list[Message], *, window: int, room: int = 0) -> Pressure:
    return pressure(messages, room=room, window=window, estimator=estimate_tokens)


def test_it_is_the_next_requests_input_and_the_room_for_its_answer() -> None:
    assert found(TALK, window=1_000, room=200) == Pressure(
        input_tokens=300, room=200, window=1_000, share=0.5
    )
    assert found([], window=10).share == 0.0
    assert found(TALK, window=100).share == 3.0


@pytest.mark.parametrize("wrong", [{"window": 0}, {"window": -1}, {"window": 10, "room": -1}])
def test_a_window_or_room_that_is_none_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        found(TALK, **wrong)


def why(messages: list[Message], *, window: int = 10**6, room: int = 0, budget: int = 10**6) -> str:
    cause = due(messages, window=window, room=room, budget=budget, estimator=estimate_tokens)
    return str(cause)


def test_earlier_turns_are_due_from_four_fifths_of_the_window() -> None:
    assert why(TALK, window=500, room=100) == "window"
    assert why(TALK, window=500, room=99) == "None"
    assert why(TALK, window=501, room=100) == "None"


def test_earlier_turns_are_due_where_they_keep_the_transcript_over_its_bytes() -> None:
    size = sum(len(message.content) + 2 for message in TALK)
    assert why(TALK, budget=size) == "None"
    assert why(TALK, budget=size - 1) == "bytes"
    # The latest turn alone is over: nothing that is compacted would help.
    assert why(TALK, budget=300) == "None"


def test_it_is_due_by_its_size_alone_also_where_nothing_can_be_taken() -> None:
    assert why(TALK[2:], window=10) == "window"
