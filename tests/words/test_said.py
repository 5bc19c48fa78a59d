"""An error repeats what was given where that is short, and never a credential."""

import pytest

from memoranda.words.errors import Invalid
from memoranda.words.inputs import choice_input
from memoranda.words.said import LONGEST_SHOWN, quoted
from tests.words.made_secrets import Made, made_secrets
from tests.words.test_inputs import Color


def test_what_is_short_is_repeated_on_one_line() -> None:
    assert quoted("nope") == "'nope'"
    assert quoted("a" * LONGEST_SHOWN) == repr("a" * LONGEST_SHOWN)
    assert "\n" not in str(quoted("a\nb"))


@pytest.mark.parametrize("text", ["", "a" * (LONGEST_SHOWN + 1)])
def test_what_is_empty_or_long_is_not(text: str) -> None:
    assert quoted(text) is None


@pytest.mark.parametrize("made", list(made_secrets()), ids=lambda made: made.kind)
def test_a_credential_is_in_no_error_about_what_stands_in_its_place(made: Made) -> None:
    assert quoted(made.value) is None
    with pytest.raises(Invalid) as told:
        choice_input("color", made.value, Color)
    assert made.value not in str(told.value)
