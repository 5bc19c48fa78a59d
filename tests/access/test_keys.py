"""What a key looks like, and what is kept of it."""

from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.access.keys import digest, mint, scope_of
from memoranda.storage import PLATFORM

HOME = UUID("0199aaaa-0000-7000-8000-000000000001")


@given(st.uuids())
def test_a_key_names_its_organization(organization: UUID) -> None:
    assert scope_of(mint(organization)) == organization


def test_an_operators_key_names_the_platform() -> None:
    assert scope_of(mint(PLATFORM)) is PLATFORM


def test_no_two_keys_are_alike() -> None:
    assert len({mint(HOME) for _ in range(1000)}) == 1000


def test_the_digest_covers_the_organization_too() -> None:
    key = mint(HOME)
    moved = key.replace(HOME.hex, UUID(int=7).hex)
    assert digest(key) != digest(moved)
    assert digest(key) == digest(key)
    assert len(digest(key)) == 64


@pytest.mark.parametrize(
    "garbled",
    [
        "",
        "mk_",
        "mk__",
        "Bearer x",
        mint(HOME) + "\n",
        " " + mint(HOME),
        mint(HOME)[:-1],
        mint(HOME) + "a",
        mint(HOME).upper(),
        mint(HOME).replace(HOME.hex, str(HOME)),
        mint(HOME).replace(HOME.hex, "٠" * 32),
        mint(HOME)[:-1] + "é",
        mint(HOME)[:-1] + "\0",
        "mk_platform_" + "\ud800" * 43,
        "x" * 100_000,
    ],
    ids=count(),  # keys are made anew each time, and names of tests are to stay
)
def test_what_no_key_looks_like_names_nobody(garbled: str) -> None:
    assert scope_of(garbled) is None


@given(st.text())
def test_any_text_can_be_asked_about(text: str) -> None:
    scope_of(text)
    digest(text)
