"""A turn that was stopped is kept as far as it went, and says of each open call what is known of it."""

from hypothesis import given

from memoranda.conversations.calls import results_of
from memoranda.conversations.chats.live.stopping import stopped_turn
from memoranda.conversations.endings import NOT_RUN, UNANSWERED, drop_unasked_results
from memoranda.conversations.models import Message
from tests.conversations.transcripts import broken, open_calls

CALLS = [
    {"type": "text", "text": "Let me look."},
    {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": "{}"},
    {"type": "tool_call", "id": "c2", "name": "look_up", "arguments": "{}"},
    {"type": "tool_call", "id": "c3", "name": "look_up", "arguments": "{}"},
]
ASKED = Message(role="user", content="When does the ferry leave?")
DONE = {"type": "tool_result", "tool_call_id": "c1", "name": "look_up", "content": "noon"}


def answers(messages: list[Message]) -> dict[str, object]:
    results = [block for message in messages for block in results_of(message)]
    return {block["tool_call_id"]: block["content"] for block in results}


def test_stopped_before_the_first_word_nothing_is_changed() -> None:
    turn = [ASKED]
    assert stopped_turn(turn) is turn


def test_stopped_in_a_text_it_is_marked_and_nothing_else() -> None:
    turn = [ASKED, Message(role="assistant", content="At no")]
    kept = stopped_turn(turn)
    assert kept[1].content == [{"type": "text", "text": "At no", "stopped": True}]
    assert kept[0] is ASKED
    assert stopped_turn(kept) is kept


def test_calls_that_never_began_were_not_run_and_nobody_claims_that_of_one_that_did() -> None:
    turn = [
        ASKED,
        Message(role="assistant", content=CALLS),
        Message(role="tool", content=[DONE]),
    ]
    kept = stopped_turn(turn, started={"c1", "c2"})
    assert answers(kept) == {"c1": "noon", "c2": UNANSWERED, "c3": NOT_RUN}
    assert kept[:3] == turn


def test_a_result_that_says_not_run_by_itself_is_left_as_it_is() -> None:
    own = {**DONE, "content": NOT_RUN}
    turn = [
        ASKED,
        Message(role="assistant", content=CALLS[:3]),
        Message(role="tool", content=[own]),
    ]
    kept = stopped_turn(turn, started={"c1"})
    assert answers(kept) == {"c1": NOT_RUN, "c2": NOT_RUN}


@given(broken())
def test_wherever_a_turn_was_stopped_every_call_is_answered_and_twice_is_the_same(
    messages: list[Message],
) -> None:
    kept = stopped_turn(messages)
    assert open_calls(drop_unasked_results(kept)) == []
    assert stopped_turn(kept) is kept
