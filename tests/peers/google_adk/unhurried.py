"""A search that waits until all that was said is found, however busy the machine is."""

import pytest

from memoranda.integrations.google_adk import memory


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_CATCH_UP_S", 60.0)
