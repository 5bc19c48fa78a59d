"""What is too long for a memory is cut where a reader would cut it, and nothing of it is lost unsaid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.memories.transfer.entry import Entry
from memoranda.memories.transfer.fitting import fit
from memoranda.words.errors import Invalid, MemorandaError, OverLimit


def fitted(text: str, limit: int = 500, **said: object) -> object:
    return fit(Entry(1, text, **said), limit)  # type: ignore[arg-type]  # the fields of an entry


def test_what_fits_is_left_as_it_is() -> None:
    made = fit(Entry(1, "Ada takes milk.", title="Milk", tags=("a", "b")), 500)
    assert (made.texts, made.title, made.tags, made.how) == (
        ("Ada takes milk.",),
        "Milk",
        ("a", "b"),
        (),
    )


def test_a_long_text_becomes_several_that_each_end_with_a_sentence() -> None:
    text = "One is here. Two is here! Is three here? Four."
    made = fit(Entry(1, text), 26)
    assert made.texts == ("One is here. Two is here!", "Is three here? Four.")
    assert made.how == ("split",)


def test_sentences_of_scripts_without_spaces_end_too() -> None:
    made = fit(Entry(1, "我喜歡茶。我住在羅馬。我晚上工作。"), 11)
    assert made.texts == ("我喜歡茶。我住在羅馬。", "我晚上工作。")


def test_a_sentence_that_is_too_long_is_cut_at_a_space_and_a_word_only_where_it_must_be() -> None:
    assert fit(Entry(1, "aaa bbb ccc"), 8).texts == ("aaa bbb", "ccc")
    assert fit(Entry(1, "x" * 25), 10).texts == ("x" * 10, "x" * 10, "x" * 5)


def test_no_letter_is_parted_from_its_marks() -> None:
    made = fit(Entry(1, "e\u0301" * 8), 5)
    assert all(not piece.startswith("\u0301") for piece in made.texts)
    assert "".join(made.texts) == "e\u0301" * 8


def test_parts_leave_the_attribute_which_only_one_could_have() -> None:
    made = fit(Entry(1, "One. Two.", attribute="preference.x"), 5)
    assert (made.attribute, made.how) == (None, ("split", "attribute_left_out"))


def test_labels_that_are_too_long_or_too_many_are_cut_and_told() -> None:
    made = fit(
        Entry(1, "x", title="t" * 201, category="c" * 65, tags=("g" * 65, *map(str, range(30)))),
        500,
    )
    assert (len(made.title or ""), len(made.category or ""), len(made.tags)) == (200, 64, 20)
    assert made.how == ("title_cut", "category_cut", "tags_cut")


def test_what_no_text_can_hold_is_replaced_and_told() -> None:
    made = fit(Entry(1, "a\0b\ud800c", title="\0"), 500)
    assert (made.texts, made.title, made.how) == (("ab\ufffdc",), None, ("cleaned",))


def test_spaces_at_the_ends_are_taken_off_and_told() -> None:
    assert fit(Entry(1, " a \n"), 500).how == ("trimmed",)
    # But those of an export were kept with what was written; where there is no room, they go.
    exported = Entry(1, " a \n", as_written=True)
    assert (fit(exported, 4).texts, fit(exported, 4).how) == ((" a \n",), ())
    assert (fit(exported, 3).texts, fit(exported, 3).how) == (("a",), ("trimmed",))


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u3164", "\0"])
def test_what_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        fit(Entry(1, text), 500)


def test_a_document_is_no_memory() -> None:
    with pytest.raises(OverLimit, match="knowledge add"):
        fit(Entry(1, "x" * 20_001), 500)


@given(st.text(max_size=400), st.integers(4, 40))
def test_every_part_fits_and_together_they_say_all_of_it(text: str, limit: int) -> None:
    try:
        made = fit(Entry(1, text), limit)
    except MemorandaError:
        return
    assert all(len(piece) <= limit and piece == piece.strip() for piece in made.texts)
    whole = "".join("".join(made.texts).split())
    visible = "".join(text.replace("\0", "").split())
    if "split" not in made.how:
        assert whole == visible
    else:  # a part that nobody could see is left out
        assert set(whole) <= set(visible)
        assert [c for c in whole if c.isalnum()] == [c for c in visible if c.isalnum()]
