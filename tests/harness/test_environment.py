"""Tests neither see nor touch the settings and data of whoever runs them."""

import os
from pathlib import Path

from memoranda.settings import Settings


def test_no_setting_of_the_machine_reaches_a_test() -> None:
    assert not [name for name in os.environ if name.startswith("MEMORANDA_")]


def test_the_default_database_is_not_the_one_of_whoever_runs_the_tests() -> None:
    assert not Path(Settings().db).is_relative_to(Path.home())
