"""A real server with MCP beside its routes."""

from collections.abc import Iterator
from contextlib import contextmanager

from memoranda.surfaces.mcp.streamable import make_endpoint
from tests.surfaces.http.live import Live, live_server


@contextmanager
def live_mcp(database_url: str) -> Iterator[Live]:
    """Serve the database, and MCP at /mcp, until the block ends."""
    with live_server(database_url, beside=make_endpoint) as running:
        yield running
