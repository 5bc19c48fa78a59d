"""The bundled model's reading of text: the ids that it was trained with, whatever the text holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.embedders.wordpiece import END, MOST_PIECES, START, is_readable, read


# Ids as the model's own tokenizer gives them.
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("the cat", [1996, 4937]),
        ("  The\tCAT\n", [1996, 4937]),
        ("don't stop...", [2123, 1005, 1056, 2644, 1012, 1012, 1012]),
        ("caf\u00e9 na\u00efve", [7668, 15743]),
        ("cafe\u0301", [7668]),
        ("kubernetes", [13970, 5677, 7159, 2229]),
        ("10% of $200", [2184, 1003, 1997, 1002, 3263]),
        ("\u5927\u962a", [1810, 100]),
        ("\u201cquoted\u201d \u2014 yes", [1523, 9339, 1524, 1517, 2748]),
        ("a\u200bb c\x00d \ufffd", [11113, 3729]),
        ("x" * 101, [100]),
        ("\U0001f600", [100]),
    ],
)
def test_text_becomes_the_pieces_that_the_model_learned(text, ids) -> None:
    assert list(read(text)) == [START, *ids, END]


@given(st.text())
def test_any_text_can_be_read(text) -> None:
    ids = read(text)
    assert ids[0] == START
    assert ids[-1] == END
    assert all(0 <= each < 30522 for each in ids)


def test_a_long_text_is_read_up_to_the_limit() -> None:
    ids = read("word " * 5000)
    assert len(ids) == MOST_PIECES
    assert ids[-1] == END


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "42",
        "\u00dcbergr\u00f6\u00dfe",
        "Zo\u00eb eats \u5bff\u53f8 daily",
        "\u0141\u00f3d\u017a",
        "fine \U0001f600",
    ],
)
def test_texts_in_the_latin_script_are_readable(text) -> None:
    assert is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?!",
        "\U0001f600\U0001f680",
        "\u6211\u4eec\u7684\u4ea4\u8d27\u65f6\u95f4",
        "\u0434\u043e\u0441\u0442\u0430\u0432\u043a\u0430",
        "\u0e2b\u0e21\u0e32",
        "\u0634\u0643\u0631\u0627",
        "\ubc30\uc1a1\uc740 10\uc77c",
    ],
)
def test_texts_that_would_all_look_alike_are_not(text) -> None:
    assert not is_readable(text)
