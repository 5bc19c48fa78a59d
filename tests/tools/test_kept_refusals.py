"""What is kept of a refusal: its code and words, and of its details nothing that somebody wrote."""

import pytest

from memoranda.memories.errors import StaleVersion
from memoranda.tools.approvals.refusing import failed, refusal_of
from memoranda.words.errors import Conflict, OverLimit
from memoranda.words.ids import new_id

WRITTEN = "a text that a person wrote"


@pytest.mark.parametrize("value", [WRITTEN, [WRITTEN], {"text": WRITTEN}, "", 1.5, b"x"])
def test_a_text_in_the_details_is_not_kept(value: object) -> None:
    assert refusal_of(Conflict("It has moved on.", text=value)).details == {}


def test_ids_numbers_and_truths_are_kept() -> None:
    details = {"memory_id": str(new_id()), "version": 3, "live": False, "limit": None}
    assert refusal_of(Conflict("It has moved on.", **details)).details == details


def test_code_kind_words_and_whether_to_try_again_are_kept() -> None:
    kept = refusal_of(OverLimit("Too long.", limit=3))
    assert (kept.code, kept.kind, kept.message) == ("over_limit", "over_limit", "Too long.")
    assert not kept.retryable


def test_the_agent_is_told_why_and_at_which_version_the_memory_is() -> None:
    approval_id, memory_id = new_id(), new_id()
    stale = StaleVersion("It is at version 3 by now.", version=3, text=WRITTEN)
    told = failed(stale, approval_id, memory_id)
    assert (told.outcome, told.version) == ("failed", 3)
    assert (told.approval_id, told.memory_id) == (approval_id, memory_id)
    assert "It is at version 3 by now." in told.message
    assert WRITTEN not in told.model_dump_json()


@pytest.mark.parametrize("version", [None, "3", True])
def test_what_is_no_version_is_not_told_as_one(version: object) -> None:
    assert failed(Conflict("No.", version=version), new_id(), None).version is None
