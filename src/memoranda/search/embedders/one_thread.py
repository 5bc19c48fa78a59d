"""Keeps matrix products on the thread that asks for them while the bundled model works."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Final

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it ships no types

# The products are small: spread over threads they wait for each other, and on a busy machine a
# query takes a hundred times longer. The library's limit is one per process, so whoever comes
# first sets it and whoever leaves last puts it back.
_LOCK: Final = Lock()
_HELD: Final[list[Any]] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, in any number of threads at once, the process's products use one thread each."""
    with _LOCK:
        if not _HELD:
            _take_over()
            _HELD.append(_pools().limit(limits=1, user_api="blas"))
        _HELD.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _HELD.pop()
            if len(_HELD) == 1:
                _take_over()
                _HELD.pop().restore_original_limits()
                _take_over()


def _take_over() -> None:
    """Let any thread set the limit: from 3.8 on, the first that set one keeps it to itself while it lives."""
    for library in _pools().lib_controllers:
        give_up = getattr(library, "clear_controlling_thread", None)
        if give_up is not None:
            give_up(force=True)


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
