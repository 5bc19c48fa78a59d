"""`memoranda mcp`: the server that an MCP client starts for itself."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Choices, opened
from memoranda.words.errors import NotFound

if TYPE_CHECKING:
    from memoranda.settings import Settings

# Named as text: no surface imports another, and this one starts the other.
MCP: Final = "memoranda.surfaces.mcp"
INSTALL: Final = 'pip install "memoranda[mcp]"'

Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="KEY",
        help="Act as this key says; MEMORANDA_KEY without it, and without both as the owner.",
    ),
]


def mcp(choices: Choices, key: Key = None) -> Answer:
    """Serve MCP to the client that starts this, over standard input and output."""
    serving = module("stdio")
    settings = choices.settings()
    if key is None and settings.key is not None:
        key = settings.key.get_secret_value()
    serving.serve_stdio(lambda: _product(choices, settings, reads=key is not None), key=key)
    return Answer(None, list)


def module(name: str) -> Any:
    """A module of the MCP surface. Raises `NotFound` where what it stands on is not installed."""
    try:
        return importlib.import_module(f"{MCP}.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise NotFound(f"MCP needs the package mcp, which is not installed: {INSTALL}") from None


@asynccontextmanager
async def _product(choices: Choices, settings: "Settings", *, reads: bool) -> AsyncIterator[Any]:
    """The product with its worker, and the owner. A key opens nothing in a database that is new."""
    async with opened(choices, settings, reads=reads, work=settings.worker) as session:
        yield module("opening").Opened(session.memoranda, session.who)
