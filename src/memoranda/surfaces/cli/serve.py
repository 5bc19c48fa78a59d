"""`memoranda serve` and `memoranda worker`: the processes that stay."""

import asyncio
import importlib
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from memoranda.surfaces.cli.output import Answer, console_for, print_json
from memoranda.surfaces.cli.session import Choices, Session, opened
from memoranda.words.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from memoranda.settings import Settings

# Named as text: no surface imports another, and this one starts the other.
HTTP: Final = "memoranda.surfaces.http.app"
BACKLOG: Final = 2048

Host = Annotated[
    str | None, typer.Option("--host", help="The address to listen on; MEMORANDA_HOST without it.")
]
Port = Annotated[
    int | None,
    typer.Option("--port", help="The port; MEMORANDA_PORT without it, and 0 takes a free one."),
]
NoWorker = Annotated[
    bool,
    typer.Option("--no-worker", help="Leave documents to a separate memoranda worker."),
]


def serve(
    choices: Choices, host: Host = None, port: Port = None, no_worker: NoWorker = False
) -> Answer:
    """Serve HTTP until it is stopped, and take in documents meanwhile."""
    settings = choices.settings()
    work = settings.worker and not no_worker
    listening = _listen(
        settings.host if host is None else host, settings.port if port is None else port
    )
    with listening:
        url = _url(listening)
        asyncio.run(_served(choices, listening, url, work=work))
    return Answer({"url": url, "stopped": True}, lambda: [Text("Stopped.")])


async def worker(
    at: Session,
    drain: Annotated[
        bool, typer.Option("--drain", help="End when nothing waits any more.")
    ] = False,
) -> Answer:
    """Take in the documents that wait, of all organizations, until it is stopped."""
    if drain:
        await at.memoranda.worker.drain()
        return Answer({"drained": True}, lambda: [Text("Nothing waits any more.")])
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    with _on_stop(lambda: loop.call_soon_threadsafe(stopped.set)):
        _announce(at.choices, {"worker": "running"}, "Working. Stop with Ctrl+C.")
        working = asyncio.ensure_future(at.memoranda.worker.run())
        waiting = asyncio.ensure_future(stopped.wait())
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        working.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)
    return Answer({"worker": "stopped"}, lambda: [Text("Stopped.")])


async def _served(choices: Choices, listening: socket.socket, url: str, *, work: bool) -> None:
    import uvicorn

    async with opened(choices) as at:
        app = importlib.import_module(HTTP).create_app(at.memoranda, work=work)
        # Uvicorn repeats a signal once it has stopped; then the product still has to be closed.
        with _on_stop(lambda: None):
            _announce(choices, _about(url, at.memoranda.settings), f"Serving {url}\n{_HOW_TO}")
            config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on")
            await uvicorn.Server(config).serve(sockets=[listening])


_HOW_TO: Final = (
    "Every request needs a key: memoranda keys create --role owner. Stop with Ctrl+C."
)


def _about(url: str, settings: "Settings") -> dict[str, object]:
    from memoranda.storage.health import shown

    return {"url": url, "database": shown(settings.db)}


def _announce(choices: Choices, value: dict[str, object], sentence: str) -> None:
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
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
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
