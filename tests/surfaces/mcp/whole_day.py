"""The working day of several clients of one database, and all that it left behind."""

import asyncio
import json
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import select

from memoranda.app import Memoranda
from memoranda.storage import Transaction
from memoranda.storage.tables import (
    activities,
    event_counters,
    events,
    memories,
    memory_counts,
    memory_proposals,
    memory_revisions,
    tool_approvals,
    tool_receipts,
    work_signals,
)
from memoranda.tools.models import Decision, ToolCall
from tests.surfaces.mcp import working_day
from tests.surfaces.mcp.clients import environment
from tests.surfaces.mcp.served import live_mcp
from tests.surfaces.mcp.tenants import Two, two_organizations
from tests.surfaces.mcp.working_day import WRITES, Delivery, Job, read_ledger

CALLS: Final = 5_000
PATIENCE: Final = 240
CLIENTS: Final = {
    "desk": ("pipes", "owner", "legacy"),
    "anna": ("pipes", "anna", "auto"),
    "office": ("http", "owner", "auto"),
    "scout": ("http", "scout", "legacy"),
}
KILLED: Final = {"anna": 0.3, "scout": 0.5}
"""Who is killed, and after which part of its calls."""
HOUSE: Final = Path(working_day.__file__).parents[3]


class Evening(NamedTuple):
    """All rows that the day left in the organization."""

    receipts: list[Any]
    memories: list[Any]
    revisions: list[Any]
    events: list[Any]
    last_event: list[Any]
    activities: list[Any]
    counts: list[Any]
    approvals: list[Any]
    proposals: list[Any]
    signals: list[Any]


TABLES: Final = (
    tool_receipts,
    memories,
    memory_revisions,
    events,
    event_counters,
    activities,
    memory_counts,
    tool_approvals,
    memory_proposals,
    work_signals,
)


def changed(delivery: Delivery) -> bool:
    """Whether the client was told that it had changed something."""
    return delivery.done and delivery.request.tool in WRITES


@dataclass(frozen=True)
class Day:
    """What the clients heard, and what was kept."""

    two: Two
    deliveries: list[Delivery]
    cut_off: dict[str, int]
    """Of how many calls a killed client had no answer yet."""
    kept: Evening
    journal: list[ToolCall]

    def writes(self) -> dict[str, list[Delivery]]:
        """The deliveries of each request that was to change something."""
        found = defaultdict(list)
        for each in self.deliveries:
            if each.request.tool in WRITES:
                found[each.request.call].append(each)
        return found

    def answers(self) -> dict[str, Delivery]:
        """One of the deliveries that were told it is done, of each request for which there is one."""
        return {each.request.call: each for each in self.deliveries if changed(each)}

    def revisions(self) -> dict[str, list[Any]]:
        """The revisions that each request left behind."""
        found = defaultdict(list)
        for row in self.kept.revisions:
            if row.conversation_id is not None:
                found[str(row.conversation_id)].append(row)
        return found


def whole_day(url: str, folder: Path) -> Day:
    """Let the clients work for a day on a fresh database; their ledgers are in the folder."""
    two = asyncio.run(_morning(url))
    with live_mcp(two.url) as live:
        jobs = [_job(name, two, live.url, folder) for name in CLIENTS]
        cut_off = _work(jobs)
    heard = [each for job in jobs for each in read_ledger(Path(job.ledger), job.name)]
    return Day(two, heard, cut_off, *asyncio.run(_evening(two)))


async def _morning(url: str) -> Two:
    two = await two_organizations(url)
    acme = two.acme
    async with Memoranda.open(url, migrate=False) as product:
        for tool in WRITES:
            await product.tools.policies.set(acme.owner, acme.scout.id, tool, Decision.ALLOW)
        text = b"# Harbour\n\nThe lantern at the harbour is copper, and the orchard has a violin."
        await product.knowledge.add(acme.owner, text, title="harbour.md")
    return two


def _job(name: str, two: Two, served: str, folder: Path) -> Job:
    way, whose, mode = CLIENTS[name]
    return Job(
        name=name,
        way=way,
        where=two.url if way == "pipes" else served,
        key=two.acme.keys[whose],
        mode=mode,
        ledger=str(folder / f"{name}.jsonl"),
        steps=CALLS // len(CLIENTS),
    )


def _work(jobs: list[Job]) -> dict[str, int]:
    """Let all of them work at once, and kill some in the middle; of how many calls those had no answer."""
    running = {job.name: _started(job) for job in jobs}
    until = time.monotonic() + PATIENCE
    try:
        cut_off = {}
        for job in jobs:
            if job.name in KILLED:
                cut_off[job.name] = _kill_amid(job, running, until)
        for job in jobs:
            code = running[job.name].wait(max(1, until - time.monotonic()))
            assert code == 0, Path(f"{job.ledger}.err").read_text()[-3_000:]
        return cut_off
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def _started(job: Job) -> "subprocess.Popen[bytes]":
    # A file takes what is said on standard error: the server of a killed client holds a pipe open.
    with Path(f"{job.ledger}.err").open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", working_day.__name__],
            cwd=HOUSE,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
        )
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(job)).encode())
    process.stdin.close()
    return process


def _kill_amid(job: Job, running: dict[str, "subprocess.Popen[bytes]"], until: float) -> int:
    """Kill a client that waits for answers, and start it again; of how many calls it had none."""
    ledger = Path(job.ledger)
    share = KILLED[job.name]
    while time.monotonic() < until:
        assert running[job.name].poll() is None, Path(f"{job.ledger}.err").read_text()[-3_000:]
        if not ledger.exists() or ledger.read_bytes().count(b"\n") < 2 * share * job.steps:
            time.sleep(0.05)
            continue
        running[job.name].kill()
        running[job.name].wait()
        left = read_ledger(ledger, job.name)
        running[job.name] = _started(job)
        open_ = [each for each in left if not each.heard and not each.given_up]
        if open_:
            return len(open_)
        share += 0.02
    raise AssertionError("a client was never met in the middle of a call")


async def _evening(two: Two) -> tuple[Evening, list[ToolCall]]:
    organization = two.acme.owner.organization_id
    assert organization is not None
    lines: list[ToolCall] = []
    async with Memoranda.open(two.url, migrate=False) as product:
        kept = await product.storage.read(organization, _rows)
        cursor = None
        while True:
            page = await product.tools.journal.page(two.acme.owner, limit=200, cursor=cursor)
            lines += page.items
            cursor = page.next_cursor
            if cursor is None:
                return kept, lines


def _rows(tx: Transaction) -> Evening:
    return Evening(*(tx.all(select(table)) for table in TABLES))
