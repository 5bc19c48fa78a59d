"""Settings are read from the environment, and a wrong one is named."""

import pytest

from memoranda.settings import Settings
from memoranda.words.errors import Invalid


def test_a_setting_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_PORT", "9000")
    monkeypatch.setenv("MEMORANDA_DB", "postgresql://me:secret@db/memoranda")
    settings = Settings.load()
    assert settings.port == 9000
    assert settings.db == "postgresql://me:secret@db/memoranda"


def test_what_is_given_in_code_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_PORT", "9000")
    assert Settings.load(port=9001).port == 9001


def test_every_wrong_setting_is_named_in_one_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_PORT", "seven")
    monkeypatch.setenv("MEMORANDA_SOURCE_TIMEOUT_S", "-1")
    with pytest.raises(Invalid) as refused:
        Settings.load(worker_poll_s=0)
    for name in ("MEMORANDA_PORT", "MEMORANDA_SOURCE_TIMEOUT_S", "MEMORANDA_WORKER_POLL_S"):
        assert name in refused.value.message


def test_a_refusal_does_not_repeat_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_SECRET", "tooshort-hunter2")
    with pytest.raises(Invalid) as refused:
        Settings.load()
    assert "hunter2" not in refused.value.message


def test_settings_that_are_shown_hide_passwords() -> None:
    shown = repr(Settings.load(db="postgresql://me:hunter2@db/x", secret="hunter2" * 6))
    assert "hunter2" not in shown


def test_every_setting_has_one_sentence() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name


@pytest.mark.parametrize("half", ["sqlite:notes.db", "sqlite:/notes.db", "postgresql:me@db/x"])
def test_half_an_address_is_no_file_name(half: str) -> None:
    with pytest.raises(Invalid, match="://") as refused:
        Settings.load(db=half)
    assert "half an address" in refused.value.message
    with pytest.raises(Invalid, match="half an address"):
        Settings.load().on(half)


@pytest.mark.parametrize("whole", ["notes.db", "./a:b.db", "/a/b:c.db", "C:/notes.db", "~/n.db"])
def test_a_file_name_is_passed_on_as_it_is(whole: str) -> None:
    assert Settings.load(db=whole).db == Settings.load().on(whole).db == whole


def test_the_short_name_of_postgresql_is_its_long_one() -> None:
    assert Settings.load(db="postgres://me@db/x").db == "postgresql://me@db/x"
    assert Settings.load().on("postgres://me@db/x").db == "postgresql://me@db/x"
