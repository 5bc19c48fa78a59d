"""Whoever dies in the middle of a call: what is kept is whole, and the rest never was."""

import json
import sqlite3

import pytest

from memoranda.app import Memoranda
from tests.surfaces.mcp.wire import Wire, wired

ROUNDS = 3

pytestmark = pytest.mark.slow


async def test_a_server_that_is_killed_keeps_whole_calls_alone(database_url: str) -> None:
    for number in range(ROUNDS):
        with wired("--db", database_url) as wire:
            wire.greet()
            wire.call("list", 0)
            _ask_many(wire, number)
            for _ in range(number * 3):
                wire.message()
            wire.process.kill()
            wire.process.wait()
    await _check(database_url)


async def test_a_client_that_is_killed_leaves_whole_calls_too(database_url: str) -> None:
    for number in range(ROUNDS):
        with wired("--db", database_url) as wire:
            wire.greet()
            wire.call("list", 0)
            _ask_many(wire, number)
            assert wire.process.stdin is not None
            assert wire.process.stdout is not None
            wire.process.stdout.close()
            wire.process.stdin.close()
            wire.process.wait(timeout=60)
    await _check(database_url)


def _ask_many(wire: Wire, round_: int) -> None:
    for number in range(1, 30):
        call = {
            "name": "remember",
            "arguments": {"content": f"Round {round_}, fact {number}."},
            "_meta": {"memoranda/idempotency-key": f"{round_}-{number}"},
        }
        wire.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})


async def _check(url: str) -> None:
    """Every call is done when it comes again under its key: either it was, or it is now, and once."""
    with wired("--db", url) as wire:
        wire.greet()
        replayed = 0
        for round_ in range(ROUNDS):
            for number in range(1, 30):
                wire.send(
                    {
                        "jsonrpc": "2.0",
                        "id": f"{round_}-{number}",
                        "method": "tools/call",
                        "params": {
                            "name": "remember",
                            "arguments": {"content": f"Round {round_}, fact {number}."},
                            "_meta": {"memoranda/idempotency-key": f"{round_}-{number}"},
                        },
                    }
                )
                result = wire.answer(f"{round_}-{number}")["result"]
                assert result["isError"] is False, json.dumps(result)
                replayed += "_meta" in result
    assert replayed > 0
    async with Memoranda.open(url, migrate=False) as product:
        page = await product.memories.page(product.owner, limit=200)
        assert len(page.items) == ROUNDS * 29
        assert len({memory.text for memory in page.items}) == ROUNDS * 29
        calls = await product.tools.journal.page(product.owner, limit=200)
        written = [call for call in calls.items if call.tool == "remember" and call.memory_id]
        done = {call.memory_id for call in written if call.outcome == "done"}
        assert done == {memory.id for memory in page.items}
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        raw.close()
