"""The processes that stay: they say where they are, do their work, and stop in peace."""

import gc
import signal
import socket
from pathlib import Path

import pytest

from tests.surfaces.cli.serving import serving
from tests.surfaces.cli.terminal import Cli, finished, process


def test_a_served_database_answers_on_both_backends(cli: Cli) -> None:
    key = cli.json("keys", "create", "--role", "owner")["key"]
    cli.json("remember", "Tea is at five.")
    with serving(cli.db, key) as served:
        assert served.url.startswith("http://127.0.0.1:")
        assert served.get("/healthz")["status"] == "ok"
        assert served.get("/readyz")["status"] == "ready"
        assert [each["text"] for each in served.get("/v1/memories")["items"]] == ["Tea is at five."]


def test_a_person_is_told_where_it_serves_and_how_to_make_a_key(local: Cli) -> None:
    with process("--db", local.db, "serve", "--port", "0") as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("Serving http://127.0.0.1:")
        assert "memoranda keys create" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out.strip(), err) == (0, "Stopped.", "")


def test_a_server_does_not_stop_to_look_for_garbage_among_what_it_is_made_of(
    local: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    async def serve(*_: object, **__: object) -> None:
        left.append(len(gc.get_objects()))

    monkeypatch.setattr("memoranda.surfaces.http.server.Server.serve", serve)
    try:
        assert local("serve", "--port", "0").code == 0
    finally:
        gc.unfreeze()
    # Hundreds of thousands of objects make the server, and all that requests leave behind is new.
    assert left[0] < len(gc.get_objects()) / 10


def test_a_taken_port_is_a_sentence(local: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = finished("serve", "--db", local.db, "--port", str(port))
    assert ended.code == 9
    assert "can't be listened on" in ended.err
    assert "Traceback" not in ended.err


def test_an_address_that_others_reach_is_refused_without_a_secret(local: Cli) -> None:
    everywhere = "0.0.0.0"  # noqa: S104 - what has to be refused
    ended = finished("serve", "--db", local.db, "--host", everywhere, "--port", "0")
    assert ended.code == 6
    assert "127.0.0.1" in ended.err


def test_a_worker_takes_in_what_a_server_without_one_left(local: Cli, tmp_path: Path) -> None:
    key = local.json("keys", "create", "--role", "owner")["key"]
    with serving(local.db, key, "--no-worker") as served:
        files = {"file": ("tea.txt", b"Oolong takes three minutes.")}
        id_ = served.client.post("/v1/knowledge/sources", files=files).json()["id"]
        assert served.get(f"/v1/knowledge/sources/{id_}")["status"] == "pending"
        assert local.json("worker", "--drain") == {"drained": True}
        assert served.get(f"/v1/knowledge/sources/{id_}")["status"] == "ready"


def test_a_worker_stops_in_peace(local: Cli) -> None:
    with process("worker", "--db", local.db) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("Working.")
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out.strip(), err) == (0, "Stopped.", "")
