"""Two organizations behind the server, once per backend."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.surfaces.http.live import Live
from tests.surfaces.mcp.served import live_mcp
from tests.surfaces.mcp.tenants import Two, two_organizations


@pytest.fixture
def two(database_url: str) -> Two:
    """Both organizations."""
    return asyncio.run(two_organizations(database_url))


@pytest.fixture
def live(two: Two) -> Iterator[Live]:
    """A real server of both, with MCP beside its routes."""
    with live_mcp(two.url) as running:
        yield running
