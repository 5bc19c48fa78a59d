"""What is printed is harmless to the terminal and exact for programs."""

import io
import json
import sys
from datetime import datetime, timedelta, timezone

import pytest
from rich.console import Console
from rich.text import Text

from memoranda.surfaces.cli.output import Answer, print_json, show
from memoranda.surfaces.cli.tables import card, cell, table

HOSTILE = "\x1b[31mred\x1b[0m [bold]x[/bold] :smile: \u202eevil\u202c\r\nnext\x07"


def drawn(part: object) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200, markup=False, emoji=False, highlight=False).print(part)
    return stream.getvalue()


def test_stored_text_can_not_steer_the_terminal() -> None:
    for part in (cell(HOSTILE), card({"text": HOSTILE}), table(("text",), [(HOSTILE,)])):
        shown = drawn(part)
        assert not set(shown) & {"\x1b", "\x07", "\r", "\u202e"}


def test_a_time_is_told_to_the_minute_and_in_utc() -> None:
    moment = datetime(2027, 1, 31, 9, 5, 59, tzinfo=timezone(timedelta(hours=2)))
    assert cell(moment).plain == "2027-01-31 07:05"
    assert "2027-01-31 07:05" in card({"since": moment}).plain


def test_stored_text_is_no_markup() -> None:
    assert "[bold]x[/bold] :smile:" in drawn(table(("text",), [(HOSTILE,)]))


def test_empty_fields_of_a_card_are_left_out() -> None:
    assert "title" not in drawn(card({"id": 1, "title": None, "note": ""}))


def test_json_is_utf_8_whatever_the_terminal_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    print_json({"text": "日本 \ud800"})
    assert json.loads(raw.getvalue().decode("utf-8")) == {"text": "日本 \ufffd"}


def test_an_answer_without_a_value_prints_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    show(Answer(None, lambda: [Text("Stopped.")]), as_json=True)
    assert capsys.readouterr().out == ""


def test_long_text_is_not_broken_into_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show(Answer(None, lambda: [Text("word " * 100)]), as_json=False)
    assert capsys.readouterr().out.strip().count("\n") == 0


def test_a_table_wider_than_the_screen_loses_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    id_ = "01890000-0000-7000-8000-000000000000"
    rows = [(id_, "word " * 20, "ready", 123456789)]
    show(Answer(None, lambda: [table(("id", "~text", "status", "#chunks"), rows)]), as_json=False)
    out = capsys.readouterr().out
    assert id_ in out
    assert "123456789" in out
    assert out.count("word") == 20


def test_a_column_that_holds_nothing_is_left_out() -> None:
    assert "reason" not in drawn(table(("id", "~reason"), [(1, None), (2, "")]))
    assert "reason" in drawn(table(("id", "~reason"), [(1, None), (2, "broken")]))


def test_a_key_is_never_broken_into_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    key = "mk_" + "x" * 80
    show(Answer(None, lambda: [card({"key": key})]), as_json=False)
    assert key in capsys.readouterr().out
