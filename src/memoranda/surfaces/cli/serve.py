"""`memoranda serve` and `memoranda worker`: the processes that stay."""

import gc
import importlib
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits, mcp
from memoranda.surfaces.cli.output import Answer, console_for, print_json
from memoranda.surfaces.cli.session import Choices, Session, opened
from memoranda.words.errors import Invalid, NotFound, Unavailable

if TYPE_CHECKING:
    from memoranda.settings import Settings

# Named as text: no surface imports another, and this one starts the other.
HTTP: Final = "memoranda.surfaces.http"
MCP_PATH: Final = "/mcp"
BACKLOG: Final = 2048
GRACE_SECONDS: Final = 10
"""How long open requests may take to end once the server is told to stop."""
KEEP_ALIVE_SECONDS: Final = 15
"""How long an idle connection is kept."""
PATIENCE: Final = timedelta(seconds=15)
"""How long a worker that is to end waits for work that others hold, or that is to be tried again."""
MOST_CONNECTIONS: Final = 1024
"""More than so many at once are refused."""

Host = Annotated[
    str | None,
    typer.Option(
        "--host", metavar="ADDRESS", help="The address to listen on; MEMORANDA_HOST without it."
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="N", help="The port; MEMORANDA_PORT without it, and 0 takes a free one."
    ),
]
NoWorker = Annotated[
    bool,
    typer.Option("--no-worker", help="Leave documents to a separate memoranda worker."),
]


def serve(
    choices: Choices, host: Host = None, port: Port = None, no_worker: NoWorker = False
) -> Answer:
    """Serve HTTP until it is stopped, and take in documents meanwhile."""
    import asyncio

    said = {"host": host, "port": port, "worker": False if no_worker else None}
    settings = choices.settings(**{name: each for name, each in said.items() if each is not None})
    importlib.import_module(f"{HTTP}.server").check_bind(settings)
    with _listen(settings.host, settings.port) as listening:
        asyncio.run(_served(choices, settings, listening))
    return _stopped()


async def worker(
    at: Session,
    drain: Annotated[
        bool, typer.Option("--drain", help="End when nothing waits any more.")
    ] = False,
) -> Answer:
    """Do the work that waits, of all organizations, until it is stopped."""
    import asyncio

    if drain:
        drained = await at.memoranda.worker.drain(idle=PATIENCE)
        told = "Nothing waits any more." if drained else _LEFT
        code = exits.DONE if drained else exits.UNSUCCESSFUL
        return Answer({"drained": drained}, lambda: [Text(told)], code)
    loop = asyncio.get_running_loop()
    working = asyncio.ensure_future(at.memoranda.worker.run())
    with _on_stop(lambda: loop.call_soon_threadsafe(working.cancel)):
        _announce(at.choices, {"working": True}, f"Working. {_STOP}")
        await asyncio.wait({working})
    if not working.cancelled():
        working.result()  # raises what ended it
    return _stopped()


async def _served(choices: Choices, settings: "Settings", listening: socket.socket) -> None:
    import uvicorn

    from memoranda.storage.health import shown

    async with opened(choices, settings) as at:
        beside, absent = _beside(at.memoranda)
        app = importlib.import_module(f"{HTTP}.app").create_app(
            at.memoranda, work=settings.worker, beside=beside, absent=absent
        )
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # addresses hold names that people chose, and logs hold no text
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            limit_concurrency=MOST_CONNECTIONS,
        )
        server = importlib.import_module(f"{HTTP}.server").Server(config, at.memoranda.events)
        # Uvicorn hears signals only while it runs, and repeats the one that stopped it; before and
        # after, ours does what is asked, so that the product is always closed.
        with _on_stop(lambda: setattr(server, "should_exit", True)):
            url = _url(listening)
            database, mcp_url = shown(settings.db), f"{url}{MCP_PATH}" if beside else None
            about = {"url": url, "database": database, "mcp": mcp_url}
            told = [f"Serving {url} from {database}", *absent.values(), f"{_KEY} {_STOP}"]
            # What is there by now stays. To look through all of it for garbage, again and again, would
            # hold up every request for a seventh of a second.
            gc.freeze()
            _announce(choices, about, "\n".join(told))
            await server.serve(sockets=[listening])


def _beside(memoranda: Any) -> tuple[list[Any], dict[str, str]]:
    """What is served beside the routes, which is MCP; or where that is not installed why it is not."""
    try:
        return [mcp.module("streamable").make_endpoint(memoranda)], {}
    except NotFound as error:
        return [], {MCP_PATH: f"{MCP_PATH} is not served. {error.message}"}


_KEY: Final = "Every request needs a key: memoranda keys create --role owner."
_LEFT: Final = "Some work is left: it waits for another try, or is with another worker."
_STOP: Final = "Stop with Ctrl+C."


def _stopped() -> Answer:
    return Answer(None, lambda: [Text("Stopped.")])


def _announce(choices: Choices, value: Mapping[str, object], sentence: str) -> None:
    if choices.as_json:
        print_json(value)
    else:
        console_for(sys.stdout).print(Text(sentence), soft_wrap=True)
    sys.stdout.flush()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `Invalid` or `Unavailable` with what to do."""
    if not 0 <= port <= 65535:
        raise Invalid(f"The port is {port} and must be between 0 and 65535.", field="port")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # Named as TCP: asyncio sends small answers at once only on sockets that say what they are.
        return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())
    except (OSError, UnicodeError) as error:
        raise Unavailable(
            f"{host}, port {port} can't be listened on: {error}. "
            "Choose another with --host and --port.",
            host=host,
            port=port,
        ) from error


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _on_stop(stop: Any) -> Iterator[None]:
    """Call `stop` for Ctrl+C and for SIGTERM, and let the command end by itself."""
    before = {
        number: signal.signal(number, lambda *_: stop())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
