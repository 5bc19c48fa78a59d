"""Counts what a run of writes costs the disk: batches committed together, and flushes seen by strace."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest import mock

from memoranda.storage.dialects import sqlite_writer
from memoranda.storage.work import deliver

CALLS: Final = ("fsync(", "fdatasync(")
ATTACH_TIMEOUT_S: Final = 5.0


@dataclass
class Counts:
    """`flushes` is None where strace can't be used."""

    batches: int = 0
    flushes: int | None = None

    def __str__(self) -> str:
        """Name both counts."""
        flushes = (
            "flushes not counted: no strace" if self.flushes is None else f"{self.flushes} flushes"
        )
        return f"{self.batches} commits, {flushes}"


@asynccontextmanager
async def counted() -> AsyncIterator[Counts]:
    """Count the batches and flushes of this process within the block; they are known after it."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "strace"
        tracer = await _attach(log)
        # Each batch is acknowledged once, after its commit.
        with mock.patch.object(sqlite_writer, "deliver", wraps=deliver) as delivered:
            yield counts
        counts.batches = delivered.call_count
        if tracer is not None:
            tracer.send_signal(signal.SIGINT)
            await tracer.wait()
            lines = log.read_text().splitlines()
            counts.flushes = sum(any(call in line for call in CALLS) for line in lines)


async def _attach(log: Path) -> asyncio.subprocess.Process | None:
    program = shutil.which("strace")
    if program is None:
        return None
    options = ("-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(log), "-p", str(os.getpid()))
    tracer = await asyncio.create_subprocess_exec(
        program, *options, stderr=asyncio.subprocess.DEVNULL
    )
    for _ in range(int(ATTACH_TIMEOUT_S / 0.05)):
        await asyncio.sleep(0.05)
        if tracer.returncode is not None:
            return None
        if _all_traced():
            return tracer
    tracer.kill()
    await tracer.wait()
    return None


def _all_traced() -> bool:
    """Whether every thread of this process has a tracer."""
    states = [task / "status" for task in Path("/proc/self/task").iterdir()]
    return all("TracerPid:\t0\n" not in state.read_text() for state in states)
