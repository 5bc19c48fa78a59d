"""The table of what is kept claims what the converters do, and nothing that is hidden."""

from pathlib import Path

from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.fidelity import FIDELITY, HIDDEN

PAGE = Path(__file__).parents[3] / "docs" / "providers.md"


def row(runtime: str):
    return next(found for found in FIDELITY if found.runtime == runtime)


def test_there_are_eight_runtimes_each_named_once() -> None:
    assert len({found.runtime for found in FIDELITY}) == len(FIDELITY) == 8


def test_only_what_has_a_converter_is_replayable() -> None:
    for found in FIDELITY:
        assert (found.provider is not None) == (found.fidelity == "provider_replayable")
        assert (found.resumable == "by_request") == (found.fidelity == "provider_replayable")


def test_a_replayable_row_is_one_whose_state_may_be_sent_back() -> None:
    for found in FIDELITY:
        if found.provider and not found.condition:
            assert CAPABILITIES[found.provider].state_of == found.provider


def test_an_endpoint_that_nobody_tried_is_portable() -> None:
    found = row("openai_compatible")
    assert found.otherwise == "portable"
    assert CAPABILITIES["openai_compatible"].state_of is None


def test_hidden_state_is_claimed_of_none() -> None:
    assert all(HIDDEN in found.not_claimed for found in FIDELITY if found.runtime != "codex_cli")
    assert row("codex_cli").resumable == row("rlm").resumable == "no"


def test_the_page_shows_the_table() -> None:
    text = PAGE.read_text("utf-8")
    for found in FIDELITY:
        assert f"| {found.name} |" in text
        for told in (*found.kept, *found.not_claimed):
            assert told in text
