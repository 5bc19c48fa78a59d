"""A text's letters are told by a few bits, which may say too much and never too little."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.vectors.letters import SIZE, may_hold, signature, unpacked
from memoranda.words.text import fold

# Few enough of each kind that texts often hold one another.
CHARACTERS = "aBc ßİıſéе\u0301\u030a茶烏龍한ไทย🙂👩\u200d🚀.%_"
TEXTS = st.text(alphabet=CHARACTERS, max_size=30) | st.text(max_size=30)


def may(text: str, query: str) -> bool:
    return bool(may_hold(unpacked([signature(text)]), query)[0])


@given(TEXTS, TEXTS, TEXTS)
def test_a_text_that_holds_the_query_is_never_missed(before, query, after) -> None:
    query = fold(query)
    text = fold(before + query + after)
    if query in text:
        assert may(text, query)


@given(TEXTS, st.integers(0, 30), st.integers(0, 30))
def test_every_part_of_a_text_may_be_in_it(text, start, length) -> None:
    folded = fold(text)
    assert may(folded, folded[start : start + length])


def test_most_texts_that_lack_the_query_are_told_apart() -> None:
    said = [f"Invoice {n} was paid by the oak mill in Hexham within a week" for n in range(500)]
    letters = unpacked([signature(text) for text in said])
    assert not may_hold(letters, "zebra crossing").any()
    assert not may_hold(letters, "茶烏龍").any()


def test_a_single_letter_may_be_anywhere_and_a_rare_character_may_not() -> None:
    assert may("oolong", "x")
    assert may("", "x")
    assert not may("oolong", "茶")


def test_what_nobody_knows_the_letters_of_may_hold_anything() -> None:
    assert may_hold(unpacked([None, b"short"]), "anything at all").tolist() == [True, True]


def test_the_bits_stay_what_they_are_because_they_are_stored() -> None:
    assert len(signature("")) == SIZE
    assert (
        signature("oolong 茶").hex()
        == "00000000801000000000004000000010000000000000000000000240000000000000000000000000002000000000000000000000020000000000000000000000"
    )
