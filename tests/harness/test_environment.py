"""Tests neither see nor touch the settings and data of whoever runs them."""

import os
from pathlib import Path

from memoranda.settings import Settings


def test_no_setting_of_the_machine_reaches_a_test() -> None:
    found = {name: value for name, value in os.environ.items() if name.startswith("MEMORANDA_")}
    # The tests' own: most of them ask more often than a person would, and look at what a source says, not when.
    assert found == {
        "MEMORANDA_WRITES_PER_MINUTE": "0",
        "MEMORANDA_LISTS_PER_MINUTE": "0",
        "MEMORANDA_SOURCE_TIMEOUT_S": "30",
    }


def test_the_default_database_is_not_the_one_of_whoever_runs_the_tests() -> None:
    assert not Path(Settings().db).is_relative_to(Path.home())
