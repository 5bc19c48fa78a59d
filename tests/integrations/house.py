"""The product, opened for tests of what stands beside it."""

from collections.abc import AsyncIterator

import pytest

from memoranda import Memoranda
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
async def memoranda(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def other(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Other")
