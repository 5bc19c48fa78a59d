"""What reads a document of the tests: whatever a broken or captured parser could do in its process."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.written import Writer, Written

READERS = {"html": (__name__, "read")}
MARKS: list[str] = []


def read(data: bytes, _limit: int, bounds: Bounds) -> Written:
    """Do what the document's first word says, and tell what came of it."""
    deed, _, said = data.decode().partition(" ")
    writer = Writer(bounds.characters)
    writer.block(str(DEEDS[deed](said)))
    return writer.written()


def leave_a_mark(said: str) -> str:
    """What earlier documents left in the process, before this one leaves its own."""
    found = " ".join([*MARKS, *(name for name in os.environ if name.startswith("MARK_"))])
    MARKS.append(said)
    os.environ[f"MARK_{said}"] = said
    sys.modules["strange_mark"] = sys
    return found or "nothing"


def processes(_: str) -> str:
    return f"{os.getpid()} {os.getppid()}"


def open_files(_: str) -> str:
    """The open files that are more than nothing, and what they are."""
    found = []
    for number in range(64):
        with suppress(OSError):
            target = str(Path(f"/proc/self/fd/{number}").readlink())
            if target != "/dev/null" and "/proc/" not in target:
                found.append(target.partition(":")[0])
    return " ".join(sorted(found))


def hang(_: str) -> str:
    time.sleep(600)
    return ""


def spin(_: str) -> str:
    while True:
        pass


def stick(_: str) -> str:
    """Compute without letting another thread of the process have its turn."""
    return str(re.fullmatch(r"(a|a)+", "a" * 60 + "b"))


def leave_the_group(_: str) -> str:
    """Compute without end, as the head of a group of its own."""
    os.setsid()
    return stick("")


def fill(_: str) -> str:
    return str(len([bytes(1 << 20) for _ in range(1 << 20)]))


def end(code: str) -> str:
    os._exit(int(code))


def crash(_: str) -> str:
    signal.raise_signal(signal.SIGSEGV)
    return ""


def chatter(_: str) -> str:
    """Answer without end, on whatever may be the way to whoever asked."""
    while True:
        for number in range(3, 64):
            with suppress(OSError):
                os.write(number, b"x" * 65536)


def forbidden(path: str) -> str:
    """Which of the things that no reader may do could be done."""
    done = []
    tries: dict[str, Callable[[], object]] = {
        "kill": lambda: os.kill(os.getppid(), signal.SIGTERM),
        "fork": os.fork,
        "write": lambda: os.open(path, os.O_WRONLY | os.O_CREAT),
    }
    for name, deed in tries.items():
        with suppress(OSError):
            deed()
            done.append(name)
    return " ".join(done) or "nothing"


def echo(said: str) -> str:
    time.sleep(0.05)
    return said


DEEDS: dict[str, Callable[[str], str]] = {
    each.__name__: each
    for each in (
        *(
            leave_a_mark,
            processes,
            open_files,
            hang,
            spin,
            stick,
            leave_the_group,
            fill,
            end,
            crash,
            chatter,
            forbidden,
        ),
        echo,
    )
}
