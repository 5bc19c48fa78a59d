"""Credentials are found however they are written down, and innocent texts are left alone."""

import json
import random
import time
from collections.abc import Callable

import pytest

from memoranda.words.errors import SecretFound
from memoranda.words.secrets.check import check_no_secret
from memoranda.words.secrets.formats import FORMATS
from memoranda.words.secrets.scan import find_secret
from tests.words.innocent_texts import innocent_texts
from tests.words.made_secrets import Made, made_secrets

SECRETS = list(made_secrets())
INNOCENT = list(innocent_texts())
UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u200e\u202e\u2066\ufe0f\u034f\x01\U000e0041"


def full_width(text: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)


def split(text: str) -> str:
    """The same with a character that nobody sees after each third one."""
    dice = random.Random(len(text))
    pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
    return "".join(piece + dice.choice(UNSEEN) for piece in pieces)


def lettered(text: str) -> str:
    """The same in bold letters of mathematics, as some write to be seen."""
    return "".join(
        chr(0x1D400 + ord(each) - 65)
        if "A" <= each <= "Z"
        else chr(0x1D41A + ord(each) - 97)
        if "a" <= each <= "z"
        else each
        for each in text
    )


WRITTEN: dict[str, Callable[[str], str]] = {
    "whole": lambda value: value,
    "in a sentence": lambda value: f"Our key is {value}, and keep it to yourself.",
    "split": split,
    "full-width": full_width,
    "full-width and split": lambda value: split(full_width(value)),
    "bold": lettered,
    "JSON": lambda value: json.dumps({"key": value, "n": 1}),
    "JSON after a line end": lambda value: json.dumps({"text": f"first\n{value}\nlast"}),
    "YAML": lambda value: f"env:\n  - name: KEY\n    value: '{value}'\n",
    "address": lambda value: f"https://api.example.com/v1?q=a&key={value}&page=2",
    "address of a user": lambda value: f"https://user:{value}@git.example.com/site.git",
    "quoted address": lambda value: f"https://example.com/?next=%3Fkey%3D{value}",
    "front matter": lambda value: f"---\r\ntoken: {value}\r\n---\r\nText.\r\n",
    "far down": lambda value: "An ordinary line.\n" * 2_000 + value,
}


def test_there_are_enough_of_them() -> None:
    assert len(SECRETS) >= 60
    assert len({made.kind for made in SECRETS}) >= 25
    assert len(set(INNOCENT)) >= 200


def test_there_is_a_made_up_credential_of_every_kind() -> None:
    assert {made.kind for made in SECRETS} == {each.kind for each in FORMATS}


@pytest.mark.parametrize("written", WRITTEN)
def test_every_credential_is_found_however_it_is_written(written: str) -> None:
    missed = []
    for made in SECRETS:
        found = find_secret(WRITTEN[written](made.value))
        if found is None or found.kind != made.kind:
            missed.append((made, found))
    assert not missed


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bob:s3cretpw9X@db/x",
        "mongodb+srv://ada:hT7!kQ2&z@cluster0.example.net/?retryWrites=true",
        "redis://:Zk4vW9bQ@10.0.0.7:6379/0",
        "See HTTPS://ada:p%40Lm93xQ@[2001:db8::1]:8443/a, and tell nobody.",
        "DATABASE_URL=mysql://shop:vB3-n_kL9~w@db_1:3306/shop",
    ],
)
def test_a_password_in_an_address_is_found(address: str) -> None:
    found = find_secret(address)
    assert found is not None
    assert found.kind == "password_in_address"


def test_no_innocent_text_is_taken_for_one() -> None:
    assert not [(text, found) for text in INNOCENT if (found := find_secret(text))]


def test_all_innocent_texts_together_are_innocent() -> None:
    assert find_secret("\n".join(INNOCENT)) is None


def test_the_line_is_told() -> None:
    (made, *_) = SECRETS
    found = find_secret(f"one\r\ntwo\n{split(made.value)}\nfour")
    assert found is not None
    assert found.line == 3


@pytest.mark.parametrize("made", SECRETS[::3], ids=lambda made: made.kind)
def test_a_refusal_names_the_field_and_the_kind_and_never_the_value(made: Made) -> None:
    with pytest.raises(SecretFound) as refused:
        check_no_secret("body", f"Keep this:\n{made.value}\n")
    error = refused.value
    assert error.details == {"field": "body", "secret": made.kind, "line": 2}
    told = f"{error} {error.message} {error.details} {error!r} {error.args}"
    pieces = [made.value[start : start + 12] for start in range(0, len(made.value) - 12, 4)]
    dealt = [piece for piece in pieces if "PRIVATE" not in piece and "discord" not in piece]
    assert not [piece for piece in dealt[1:] if piece in told]


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "glpat-",
        "SG.",
        "xoxb-1-",
        "ghp_a1",
        "-----BEGIN PRIVATE " + "KEY-----\n",
        "pat",
        "1:AA",
        "eyJ",
        "\u200b",
        "ﷺ",
        "\\n",
        "%3D",
        "0123456789:AA-",
        "://",
        "a://b:",
        "a+a://b:c1d2e3f4",
        "a-",
    ],
)
def test_no_text_of_a_files_size_takes_long(piece: str) -> None:
    text = piece * (65_536 // len(piece.encode()))
    began = time.perf_counter()
    find_secret(text)
    assert time.perf_counter() - began < 1
