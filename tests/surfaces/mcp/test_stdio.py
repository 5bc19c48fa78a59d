"""The command that a client starts: its handshake, its output, and what it does when something is wrong."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from memoranda.surfaces.mcp import frames
from tests.surfaces.cli.terminal import RUN, finished
from tests.surfaces.mcp.clients import environment
from tests.surfaces.mcp.wire import Wire, wired

HEAVY = ("numpy", "sqlalchemy", "alembic", "fastapi", "memoranda.app", "memoranda.search")
LISTENING = f"""
import sys
from memoranda.surfaces.mcp import server
class Said(server.Handlers):
    async def list_templates(self, context, params):
        found = sorted(set({HEAVY!r}) & set(sys.modules))
        print(found, flush=True)
        return await super().list_templates(context, params)
server.Handlers = Said
{RUN}
"""


@pytest.fixture
def db(sqlite_database: str) -> str:
    return sqlite_database


def test_the_handshake_waits_for_neither_the_database_nor_what_it_takes_to_open_it(db: str) -> None:
    with wired("--db", db, program=LISTENING) as wire:
        wire.ask(
            "initialize",
            0,
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "wire", "version": "1"},
        )
        wire.ask("resources/templates/list", 1)
        _, err = wire.leave()
    assert err.strip() == b"[]"


def test_the_server_says_who_it_is_and_what_it_can(db: str) -> None:
    with wired("--db", db) as wire:
        said = wire.greet()
        out, err = wire.leave()
    assert said["serverInfo"]["name"] == "memoranda"
    assert said["capabilities"].keys() == {"tools", "resources"}
    assert "recall" in said["instructions"]
    assert (wire.process.returncode, out, err) == (0, b"", b"")


def test_nothing_but_messages_comes_on_standard_output_whatever_prints(db: str) -> None:
    noisy = f"""
import builtins, os, sys
from memoranda.surfaces.mcp import server
class Noisy(server.Handlers):
    async def list_templates(self, context, params):
        print("printed"); sys.stdout.flush(); os.system("echo by a child"); os.write(1, b"raw\\n")
        sys.__stdout__.write("kept back")
        return await super().list_templates(context, params)
server.Handlers = Noisy
{RUN}
"""
    with wired("--db", db, program=noisy) as wire:
        wire.greet()
        wire.ask("resources/templates/list", 1)
        assert wire.call("list", 2)["isError"] is False
        out, err = wire.leave()
    assert out == b""
    for said in (b"printed", b"by a child", b"raw", b"kept back"):
        assert said in err


def test_tools_are_listed_while_the_database_can_not_be_opened(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database, and it is long enough to be looked into" * 100)
    with wired("--db", str(broken)) as wire:
        wire.greet()
        listed = wire.ask("tools/list", 1)["result"]["tools"]
        assert "remember" in [tool["name"] for tool in listed]
        result = wire.call("remember", 2, content="Tea.")
        assert result["isError"] is True
        assert str(broken) in result["structuredContent"]["message"]
        read = wire.ask("resources/list", 3)
        assert read["error"]["data"]["message"] == result["structuredContent"]["message"]
        out, err = wire.leave()
    assert (wire.process.returncode, out) == (0, b"")
    assert str(broken).encode() in err
    assert b"Traceback" not in err


def test_a_database_of_a_newer_version_is_told_at_the_first_call(db: str) -> None:
    path = db.removeprefix("sqlite:///")
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with wired("--db", db) as wire:
        wire.greet()
        result = wire.call("list", 1)
        assert result["isError"] is True
        assert "newer" in result["structuredContent"]["message"]
        _, err = wire.leave()
    assert b"newer" in err


def test_what_kept_the_database_shut_is_tried_again_at_a_later_call(
    tmp_path: Path, db: str
) -> None:
    path, away = Path(db.removeprefix("sqlite:///")), tmp_path / "away.db"
    path.rename(away)
    path.mkdir()
    with wired("--db", db) as wire:
        wire.greet()
        assert wire.call("list", 1)["isError"] is True
        path.rmdir()
        away.rename(path)
        identity = 2
        while (result := wire.call("list", identity))["isError"]:
            identity += 1
            time.sleep(0.1)
            assert identity < 300, result
        assert result["structuredContent"]["memories"] == []


def test_a_database_that_another_process_writes_to_is_waited_for_or_told_to_be_busy(
    db: str,
) -> None:
    other = sqlite3.connect(db.removeprefix("sqlite:///"), isolation_level=None)
    with wired("--db", db) as wire:
        wire.greet()
        assert wire.call("list", 1)["isError"] is False
        other.execute("BEGIN IMMEDIATE")
        busy = wire.call("remember", 2, content="Tea.")
        assert busy["structuredContent"]["code"] == "storage_busy"
        assert busy["structuredContent"]["retryable"] is True
        other.execute("ROLLBACK")
        other.close()
        assert wire.call("remember", 3, content="Tea.")["isError"] is False


@pytest.mark.parametrize("key", ["no key", "mk_" + "0" * 32 + "_" + "x" * 43])
def test_a_key_that_opens_nothing_is_told_at_every_turn(db: str, key: str) -> None:
    with wired("--db", db, MEMORANDA_KEY=key) as wire:
        wire.greet()
        listed = wire.ask("tools/list", 1)["error"]
        assert listed["data"]["code"] == "unauthenticated"
        result = wire.call("list", 2)
        assert result["structuredContent"]["code"] == "unauthenticated"
        assert key not in json.dumps([listed, result])


def test_a_key_makes_no_database_where_there_is_none(tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    with wired("--db", str(missing), "--key", "mk_x") as wire:
        wire.greet()
        result = wire.call("list", 2)
        assert result["structuredContent"]["code"] == "not_found"
    assert not missing.exists()


def test_what_is_no_message_is_answered_and_the_next_one_is_served(db: str) -> None:
    with wired("--db", db) as wire:
        wire.greet()
        wire.send(b"{\n", b"\n", b"\xff\n", b"[1,2]\n")
        assert [wire.message()["error"]["code"] for _ in range(3)] == [-32700, -32700, -32600]
        wire.send(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"x":"\\udc00"}}\n')
        assert wire.answer(9)["error"]["code"] == -32600
        wire.send(b"x" * (frames.LONGEST_LINE + 1) + b"\n")
        assert wire.message()["error"]["code"] == -32600
        assert wire.ask("tools/call", 10)["error"]["code"] == -32602
        assert wire.ask("nothing/of/this/name", 11)["error"]["code"] == -32601
        assert wire.ask("ping", 12)["result"] == {}


def test_arguments_that_are_too_large_or_misshapen_are_refused_and_written_nowhere(
    db: str,
) -> None:
    deep: object = "x"
    for _ in range(100):
        deep = [deep]
    with wired("--db", db) as wire:
        wire.greet()
        for number, arguments in enumerate(
            (
                {"content": "x" * 1_000_000},
                {"content": deep},
                {"content": "Tea.", "user_id": "anna"},
                {"content": 7},
                {"content": "nul \0 inside"},
                {},
                {"content": "Tea.", "tags": ["x"] * 5_000},
                {"content": "Tea.", "expires_at": "never"},
            )
        ):
            result = wire.call("remember", f"call {number}", **arguments)
            assert result["isError"] is True
            assert result["structuredContent"]["kind"] in {"invalid", "over_limit"}
            assert len(json.dumps(result)) < 20_000
        deeper = b"[" * 5_000 + b"]" * 5_000
        wire.send(
            b'{"jsonrpc":"2.0","id":97,"method":"tools/call","params":{"name":"remember",'
            b'"arguments":{"content":' + deeper + b"}}}\n"
        )
        assert wire.message()["error"]["code"] in {-32600, -32700}
        assert wire.ask("tools/call", 98, name="remember", arguments=[1])["error"]
        assert wire.call("list", 99)["structuredContent"]["memories"] == []


def test_what_was_asked_before_the_input_ended_is_still_answered(db: str) -> None:
    with wired("--db", db) as wire:
        wire.send(
            _request(0, "initialize", **_HELLO),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            _request(1, "tools/call", name="remember", arguments={"content": "Tea."}),
        )
        out, err = wire.leave()
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1]
    assert answers[1]["result"]["structuredContent"]["outcome"] == "done"
    assert (wire.process.returncode, err) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_peace(db: str, number: signal.Signals) -> None:
    with wired("--db", db) as wire:
        wire.greet()
        wire.call("list", 1)
        wire.process.send_signal(number)
        out, err = wire.process.communicate(timeout=30)
    assert (wire.process.returncode, out, err) == (0, b"", b"")


def test_a_call_that_was_called_off_is_not_answered_and_nothing_of_it_is_kept(db: str) -> None:
    other = sqlite3.connect(db.removeprefix("sqlite:///"), isolation_level=None)
    with wired("--db", db) as wire:
        wire.greet()
        wire.call("list", 1)
        other.execute("BEGIN IMMEDIATE")
        wire.send(
            _request(2, "tools/call", name="remember", arguments={"content": "Tea."}),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}},
        )
        assert wire.ask("ping", 3)["result"] == {}
        other.execute("ROLLBACK")
        other.close()
        assert wire.call("list", 4)["structuredContent"]["memories"] == []


def test_without_the_sdk_it_says_how_to_install_it(db: str, tmp_path: Path) -> None:
    with wired("--db", db, program=without_the_sdk(tmp_path)) as wire:
        out, err = wire.leave()
    assert (wire.process.returncode, out) == (3, b"")
    assert b'pip install "memoranda[mcp]"' in err


def test_without_the_sdk_the_routes_are_served_all_the_same(db: str, tmp_path: Path) -> None:
    words = ("serve", "--db", db, "--port", "0", "--json")
    program = without_the_sdk(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", program, *words],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            said = "".join(iter(running.stdout.readline, "}\n")) + "}"
            url = json.loads(said)["url"]
            assert httpx.get(f"{url}/healthz").status_code == 200
            assert json.loads(said)["mcp"] is None
            for method in ("GET", "POST"):
                missing = httpx.request(method, f"{url}/mcp")
                assert (missing.status_code, missing.json()["code"]) == (404, "unknown_route")
                assert 'pip install "memoranda[mcp]"' in missing.json()["detail"]
        finally:
            running.terminate()


def test_without_the_sdk_a_person_is_told_at_once_that_mcp_is_not_served(
    db: str, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", without_the_sdk(tmp_path), "serve", "--db", db, "--port", "0"],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline().startswith("Serving http://")
            told = running.stdout.readline()
        finally:
            running.terminate()
    assert told.startswith("/mcp is not served.")
    assert 'pip install "memoranda[mcp]"' in told


def without_the_sdk(folder: Path) -> str:
    """The command where the SDK is not installed."""
    (folder / "mcp").mkdir()
    (folder / "mcp" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')"
    )
    return f"import sys; sys.path.insert(0, {str(folder)!r}); {RUN}"


def test_settings_that_can_not_be_used_end_it_with_a_sentence() -> None:
    ended = finished("mcp", MEMORANDA_MAX_MEMORIES="none")
    assert (ended.code, ended.out) == (5, "")
    assert "MEMORANDA_MAX_MEMORIES" in ended.err


def test_a_client_that_is_gone_ends_it(db: str) -> None:
    with wired("--db", db) as wire:
        wire.greet()
        _vanish(wire)
        wire.process.wait(timeout=30)


def _vanish(wire: Wire) -> None:
    """Close both ends amid a call, as a killed client does."""
    wire.send(_request(1, "tools/call", name="remember", arguments={"content": "Tea."}))
    assert wire.process.stdin is not None
    assert wire.process.stdout is not None
    wire.process.stdout.close()
    wire.process.stdin.close()


_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "wire", "version": "1"},
}


def _request(identity: int, method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
