"""Messages on their way into a request: each with its blocks seen, and whether its state may go along."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memoranda.conversations.models import Message, Role
from memoranda.conversations.wire.blocks import Block, Opaque, ToolCall, ToolResult, views
from memoranda.conversations.wire.capabilities import Capabilities


@dataclass(frozen=True)
class Turn:
    """One message. `own` where it came from the provider that it is sent to."""

    role: Role
    blocks: tuple[Block, ...]
    own: bool = False
    stopped: bool = False

    @property
    def calls(self) -> list[ToolCall]:
        return [block for block in self.blocks if isinstance(block, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        return [block for block in self.blocks if isinstance(block, ToolResult)]

    def with_blocks(self, blocks: Sequence[Block]) -> "Turn":
        return replace(self, blocks=tuple(blocks))


def turns_of(messages: Sequence[Message], target: Capabilities) -> list[Turn]:
    """See each message as the target will; a block at a place where its role can have none is left out."""
    return [_turn(message, target) for message in messages]


def _turn(message: Message, target: Capabilities) -> Turn:
    came_from = message.metadata.get("provider")
    own = target.state_of is not None and came_from == target.state_of
    blocks = [
        block
        for block in views(message.content)
        if _may_say(message.role, block) and (own or not isinstance(block, Opaque))
    ]
    if own:
        blocks = [b for b in blocks if not isinstance(b, Opaque) or _speaks_for_itself(b, target)]
    return Turn(message.role, tuple(blocks), own, bool(message.metadata.get("stopped")))


def _speaks_for_itself(block: Opaque, target: Capabilities) -> bool:
    """Whether state is the target's own, and names nobody but the assistant as who speaks."""
    return block.provider == target.state_of and block.data.get("role", "assistant") == "assistant"


def _may_say(role: Role, block: Block) -> bool:
    """Whether a message of this role may hold the block: only an assistant calls, only a tool answers."""
    if isinstance(block, Opaque):
        return True
    if block.type in {"thinking", "redacted_thinking", "tool_call"}:
        return role == "assistant"
    if block.type == "tool_result":
        return role == "tool"
    return role != "tool"
