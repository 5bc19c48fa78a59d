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
            _HELD.append(_pools().limit(limits=1, user_api="blas"))
        _HELD.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _HELD.pop()
            if len(_HELD) == 1:
                _HELD.pop().restore_original_limits()


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
