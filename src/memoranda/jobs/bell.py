"""What a worker listens for, and whoever has work for it rings; it may be rung before there is a worker."""

import asyncio


class Bell:
    """Wakes whoever waits for it now. For callers on the listeners' own event loop."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def ring(self) -> None:
        """Wake those who wait; who comes later waits for the next time."""
        self._next.set()
        self._next = asyncio.Event()

    @property
    def next(self) -> asyncio.Event:
        """Is set when it is rung the next time."""
        return self._next
