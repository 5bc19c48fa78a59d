"""Counts what a run of writes costs the disk: batches committed together, and flushes seen by strace."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest import mock

from memoranda.storage.work import Work

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
        with mock.patch.object(Work, "settle", wraps=Work.settle) as settled:
            yield counts
        counts.batches = settled.call_count
        if tracer is not None:
            tracer.send_signal(signal.SIGINT)
            tracer.wait(timeout=10)
            lines = log.read_text().splitlines()
            counts.flushes = sum(any(call in line for call in CALLS) for line in lines)


async def _attach(log: Path) -> "subprocess.Popen[bytes] | None":
    program = shutil.which("strace")
    if program is None:
        return None
    tracer = subprocess.Popen(
        [
            program,
            "-f",
            "-qq",
            "-e",
            "trace=fsync,fdatasync",
            "-o",
            str(log),
            "-p",
            str(os.getpid()),
        ],
        stderr=subprocess.DEVNULL,
    )
    for _ in range(int(ATTACH_TIMEOUT_S / 0.05)):
        await asyncio.sleep(0.05)
        if tracer.poll() is not None:
            return None
        if _all_traced():
            return tracer
    tracer.kill()
    tracer.wait()
    return None


def _all_traced() -> bool:
    """Whether every thread of this process has a tracer."""
    states = [task / "status" for task in Path("/proc/self/task").iterdir()]
    return all("TracerPid:\t0\n" not in state.read_text() for state in states)
