"""A run's state is the same however its events were cut into pieces, told twice or told late."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.chats.live.folding import folded, partial_answer, started_calls
from memoranda.conversations.chats.live.models import RunEvent, RunEventType, RunState
from memoranda.conversations.chats.models import ChatMessage
from memoranda.words.errors import Gone
from memoranda.words.ids import new_id

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT, THOUGHT = RunEventType.TEXT, RunEventType.REASONING
ANSWER = ChatMessage(
    id=new_id(),
    chat_id=new_id(),
    parent_id=new_id(),
    sequence=2,
    role="assistant",
    content="The ferry leaves at noon.",
    client_message_id=None,
    run_id=new_id(),
    state="complete",
    created_at=NOW,
)
SAID: list[tuple[RunEventType, dict[str, Any]]] = [
    (RunEventType.STATUS, {"status": "running", "reason": None}),
    (THOUGHT, {"text": "Let me "}),
    (THOUGHT, {"text": "see."}),
    (TEXT, {"text": "The ferry "}),
    (TEXT, {"text": "leaves at"}),
    (RunEventType.TOOL_STARTED, {"call_id": "c1", "name": "look_up", "arguments": "{}"}),
    (RunEventType.TOOL_FINISHED, {"call_id": "c1", "result": "noon", "is_error": False}),
    (TEXT, {"text": " noon."}),
    (RunEventType.MESSAGE, ANSWER.model_dump(mode="json")),
    (RunEventType.STATUS, {"status": "completed", "reason": None}),
]


def events(said: list[tuple[RunEventType, dict[str, Any]]]) -> list[RunEvent]:
    return [
        RunEvent(sequence=number, type=kind, data=data, created_at=NOW)
        for number, (kind, data) in enumerate(said, 1)
    ]


WHOLE = events(SAID)


def test_the_answer_is_texts_thoughts_and_calls_in_the_order_in_which_they_were_made() -> None:
    state = folded(RunState(), WHOLE)
    assert state.blocks == [
        {"type": "thinking", "thinking": "Let me see."},
        {"type": "text", "text": "The ferry leaves at"},
        {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": "{}"},
        {
            "type": "tool_result",
            "tool_call_id": "c1",
            "name": "look_up",
            "content": "noon",
            "is_error": False,
        },
        {"type": "text", "text": " noon."},
    ]
    assert (state.status, state.sequence) == ("completed", len(WHOLE))
    assert state.message == ANSWER


@given(st.lists(st.integers(0, len(WHOLE))), st.data())
def test_a_state_does_not_depend_on_how_its_events_came_in_pieces(
    cuts: list[int], data: st.DataObject
) -> None:
    state = RunState()
    for start, end in pairwise([0, *sorted(cuts), len(WHOLE)]):
        again = data.draw(st.integers(0, start))
        state = folded(state, WHOLE[again:end])
    assert state == folded(RunState(), WHOLE)


def test_what_is_known_already_leaves_the_very_same_state() -> None:
    state = folded(RunState(), WHOLE[:4])
    assert folded(state, WHOLE[:3]) is state
    assert folded(state, []) is state


def test_an_earlier_state_is_not_changed_by_going_on() -> None:
    before = folded(RunState(), WHOLE[:4])
    copy = before.model_copy(deep=True)
    folded(before, WHOLE[4:])
    assert before == copy


def test_a_gap_is_refused_and_not_folded_over() -> None:
    with pytest.raises(Gone, match="Events 2 to 3 of the run are missing"):
        folded(folded(RunState(), WHOLE[:1]), WHOLE[3:])


def test_the_partial_answer_is_marked_where_its_text_broke_off() -> None:
    state = folded(RunState(), WHOLE[:5])
    assert partial_answer(state)[-1] == {
        "type": "text",
        "text": "The ferry leaves at",
        "stopped": True,
    }
    assert "stopped" not in state.blocks[-1]


def test_a_partial_answer_that_ends_in_a_call_keeps_the_call_and_knows_that_it_was_begun() -> None:
    state = folded(RunState(), WHOLE[:6])
    assert partial_answer(state) == state.blocks
    assert started_calls(state) == {"c1"}


def test_where_no_answer_had_begun_nothing_is_kept_of_it() -> None:
    assert partial_answer(folded(RunState(), WHOLE[:1])) == []
