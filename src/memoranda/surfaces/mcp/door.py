"""What the server asks of whoever runs it: who calls, and what the caller may then use."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from memoranda.access.models import Principal
    from memoranda.tools.models import Course, ToolOffer, ToolResult

    Context = ServerRequestContext[Any, Any]


class Tools(Protocol):
    """What offers tools and calls them."""

    async def offers(self, who: "Principal") -> "Sequence[ToolOffer]":
        """What this caller may call."""

    async def call(
        self,
        who: "Principal",
        name: str,
        arguments: object,
        *,
        key: str | None = None,
        course: "Course" = ...,
    ) -> "ToolResult":
        """Call one of them; a refusal is an answer too."""

    async def invoke(
        self, who: "Principal", name: str, arguments: object
    ) -> tuple[dict[str, Any], bool]:
        """The same, where a refusal is raised. Answers whether it was answered before, too."""


async def uncounted(_: str | None) -> None:
    """Count nothing: whoever runs the process asks as often as they like."""


@dataclass(frozen=True)
class Room:
    """What one request works with: who asks, and the tools that there are.

    `count` counts the request, by the tool that it calls if it calls one, and raises
    `TooManyRequests` where it is one too many.
    """

    who: "Principal"
    tools: Tools
    count: Callable[[str | None], Awaitable[None]] = uncounted


class Door(Protocol):
    """Lets requests in. Every request is let in by itself: nothing of one is kept for another."""

    async def enter(self, context: "Context") -> Room:
        """The room of this request's caller. Raises `MemorandaError`."""

    async def offers(self, context: "Context") -> "Sequence[ToolOffer]":
        """What the caller may call. Raises `MemorandaError`."""

    def greeted(self) -> None:
        """The handshake is over: what takes long may be begun."""
