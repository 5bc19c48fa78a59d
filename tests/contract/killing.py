"""Processes that are killed at any instant, and all that they said before."""

import multiprocessing
import random
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

# Every process is forked from one that has imported everything already.
PROCESSES = multiprocessing.get_context("forkserver")


def heard_until_killed(
    target: Callable[..., None],
    *args: Any,
    instants: random.Random,
    longest_s: float,
    at_least: int,
) -> list[Any]:
    """What `target` sent to the pipe that is its last argument, until it was killed.

    It is killed once it has sent `at_least` so much, and `longest_s` later at the most.
    """
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=target, args=(*args, there), daemon=True)
    process.start()
    there.close()
    said: list[Any] = [here.recv() for _ in range(at_least)]
    time.sleep(instants.uniform(0, longest_s))
    process.kill()
    return said + _rest_of(process, here)


def heard_of_who_kills_itself(target: Callable[..., None], *args: Any) -> list[Any]:
    """What `target` sent to the pipe that is its last argument, until it killed itself."""
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=target, args=(*args, there), daemon=True)
    process.start()
    there.close()
    return _rest_of(process, here)


def _rest_of(process: Any, here: Connection) -> list[Any]:
    """What is still in the pipe of a process that is killed."""
    said: list[Any] = []
    try:
        while True:
            said.append(here.recv())
    except EOFError:
        here.close()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "it ran until it was killed"
    process.close()
    return said
