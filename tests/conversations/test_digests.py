"""What names a message and a list: what they say, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.content import written, written_metadata
from memoranda.conversations.digests import chain_after, chains, digest_of
from memoranda.conversations.models import Message


def test_a_pin_changes_no_digest_and_everything_that_is_said_does() -> None:
    plain = Message(role="user", content="a", metadata={"x": 1, "y": 2})
    assert digest_of(plain) == digest_of(plain.model_copy(update={"pinned": True}))
    others = [
        {"role": "assistant"},
        {"content": "b"},
        {"content": [{"type": "text", "text": "a"}]},
        {"metadata": {"y": 2, "x": 1}},
        {"metadata": {}},
    ]
    named = [digest_of(plain.model_copy(update=other)) for other in others]
    assert len({*named, digest_of(plain)}) == len(others) + 1


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=9))
def test_what_is_written_has_no_line_break_so_that_no_part_reads_as_the_next(text: str) -> None:
    assert "\n" not in written(text) + written([{text: text}]) + written_metadata({text: [text]})


def test_a_chain_tells_order_and_where_a_list_ends() -> None:
    ab, ba = list(chains(["a", "b"])), list(chains(["b", "a"]))
    assert len({*ab, *ba}) == 4
    assert ab[1] == chain_after(ab[0], "b")
    assert list(chains([])) == []
