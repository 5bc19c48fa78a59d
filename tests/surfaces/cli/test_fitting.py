"""A table fits the screen where it can, and loses nothing where it can't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from memoranda.surfaces.cli.fitting import fit
from memoranda.surfaces.cli.output import Answer, show
from memoranda.surfaces.cli.tables import entry, table
from tests.surfaces.cli.terminal import Cli

ID = "01890000-0000-7000-8000-000000000000"
COLUMNS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 60)), min_size=1, max_size=6)


@given(columns=COLUMNS, room=st.integers(0, 300))
def test_columns_share_the_room_and_none_gets_more_than_it_wants(
    columns: list[tuple[int, int]], room: int
) -> None:
    least = [width for width, _ in columns]
    wanted = [width + more for width, more in columns]
    widths = fit(least, wanted, room)
    assert all(low <= width <= high for low, width, high in zip(least, widths, wanted, strict=True))
    assert sum(widths) == max(sum(least), min(room, sum(wanted)))


def test_what_is_left_goes_to_who_wants_it() -> None:
    assert fit([5, 5], [5, 90], 50) == [5, 45]
    assert fit([10, 10], [90, 90], 60) == [30, 30]


def lines(capsys: pytest.CaptureFixture[str], *rows: tuple[object, ...]) -> list[str]:
    drawn = table(("@fact", "~for", "since"), rows)
    show(Answer(None, lambda: [drawn]), as_json=False)
    return capsys.readouterr().out.splitlines()


def test_a_table_with_ids_fits_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    whom = "Augusta Ada King, Countess of Lovelace"
    out = lines(capsys, (entry("word " * 40, ID, "about it"), whom, "2027-01-31"))
    assert max(map(len, out)) <= 80
    text = "\n".join(out)
    assert ID in text
    assert text.count("word") == 40
    assert "2027-01-31" in text
    for word in whom.split():
        assert word in text


def test_a_word_without_an_end_is_folded_and_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = lines(capsys, (entry("x" * 500, ID), "everybody", "2027-01-31"))
    assert max(map(len, out)) <= 80
    assert "".join(out).count("x") == 500


def test_a_line_break_in_stored_text_opens_no_line_of_an_entry() -> None:
    assert entry("one\ntwo", ID).plain == f"one two\n{ID}"
    assert entry(None, ID).plain == ID
    assert isinstance(entry("x", ID), Text)


def test_lists_are_readable_in_eighty_columns(local: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    local.json("users", "create", "Ada of Ockham", "--external-id", "ada-" * 12)
    local.json("agents", "create", "concierge-of-the-grand-hotel", "--name", "The concierge " * 4)
    for number in range(2):
        agent = ("--agent", "concierge-of-the-grand-hotel") if number else ()
        local.json(
            *("remember", f"Fact {number} is a long one. " * 6, "--user", "ada-" * 12, *agent),
            *("--attribute", "preference.the-length-of-answers"),
        )
    local.json("keys", "create", "--role", "member", "--user", "ada-" * 12, "--name", "k" * 60)
    monkeypatch.setenv("COLUMNS", "80")
    for words in (
        ("memories",),
        ("users", "list"),
        ("agents", "list"),
        ("keys", "list"),
        ("organizations", "list"),
        ("policies", "list"),
        ("policies", "show", "default"),
        ("brief", "facts", "--user", "ada-" * 12, "--budget", "40"),
    ):
        tables = [line for line in local(*words).out.splitlines() if line.startswith(" ")]
        assert tables
        assert max(map(len, tables)) <= 80, words


def test_a_memory_says_whom_it_is_for_and_a_key_whose_it_is(local: Cli) -> None:
    ada = local.json("users", "create", "Ada", "--external-id", "ada")["id"]
    local.json("agents", "create", "concierge")
    local.json("remember", "For all.")
    local.json("remember", "For her.", "--user", "ada")
    local.json("remember", "For both.", "--user", "ada", "--agent", "concierge")
    local.json("keys", "create", "--role", "agent", "--agent", "concierge", "--user", "ada")
    shown = local("memories").out
    assert "everybody" in shown
    assert "Ada with concierge" in shown
    assert ada not in shown
    assert "Ada with concierge" in local("keys", "list").out
