"""Fixtures of the HTTP surface's tests."""

from collections.abc import AsyncIterator

import pytest

from memoranda.app import Memoranda
from tests.surfaces.http.house import House, furnished


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    """An opened Memoranda, once per backend."""
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def house(memoranda: Memoranda) -> AsyncIterator[House]:
    """Two furnished organizations behind one application, once per backend."""
    async with furnished(memoranda) as made:
        yield made
