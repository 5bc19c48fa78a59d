"""The state of a run, folded from its events: the same for a server, and for a client that came late. Pure."""

from collections.abc import Iterable
from typing import Any, Final

from memoranda.conversations.chats.live.models import RunEvent, RunEventType, RunState
from memoranda.conversations.chats.models import ChatMessage, ChatRunStatus
from memoranda.words.errors import Gone

Block = dict[str, Any]

_WRITES: Final = {RunEventType.TEXT: "text", RunEventType.REASONING: "thinking"}
"""The type of the block that a delta goes on with; its text is in the field of the same name."""


def folded(state: RunState, events: Iterable[RunEvent]) -> RunState:
    """The state after these events, which go on where it stands; the same object where there is nothing new.

    An event that the state knows already changes nothing, so that one may be told twice.
    Raises `Gone` where one was left out.
    """
    fold = _Fold(state)
    for event in events:
        fold.take(event)
    return fold.state()


class _Fold:
    """A fold under way: texts are joined once, at its end."""

    def __init__(self, state: RunState) -> None:
        self._before = state
        self._sequence = state.sequence
        self._changed: dict[str, Any] = {}
        self._blocks: list[Block] = list(state.blocks)
        self._parts: list[str] = []
        self._names: dict[str, str] | None = None

    def take(self, event: RunEvent) -> None:
        """Go on by one event."""
        if event.sequence <= self._sequence:
            return
        if event.sequence != self._sequence + 1:
            raise Gone(
                f"Events {self._sequence + 1} to {event.sequence - 1} of the run are missing: "
                "load its snapshot, and go on from there.",
                sequence=self._sequence,
            )
        self._sequence = event.sequence
        match event.type:
            case RunEventType.TEXT | RunEventType.REASONING:
                self._write(_WRITES[event.type], event.data["text"])
            case RunEventType.TOOL_STARTED:
                self._add(_call(event.data))
            case RunEventType.TOOL_FINISHED:
                self._add(self._result(event.data))
            case RunEventType.STATUS:
                status = ChatRunStatus(event.data["status"])
                self._changed |= {"status": status, "reason": event.data["reason"]}
            case RunEventType.MESSAGE:
                self._changed["message"] = ChatMessage.model_validate(event.data)

    def state(self) -> RunState:
        """The state as it is by now."""
        if self._sequence == self._before.sequence:
            return self._before
        self._settle()
        changed = {**self._changed, "sequence": self._sequence, "blocks": self._blocks}
        return self._before.model_copy(update=changed)

    def _write(self, kind: str, text: str) -> None:
        if not self._blocks or self._blocks[-1]["type"] != kind:
            self._add({"type": kind, kind: ""})
        self._parts.append(text)

    def _add(self, block: Block) -> None:
        self._settle()
        self._blocks.append(block)
        self._keep_name(block)

    def _settle(self) -> None:
        """Put what was written since behind the last block's text."""
        if self._parts:
            last = self._blocks[-1]
            field = str(last["type"])
            self._blocks[-1] = {**last, field: last[field] + "".join(self._parts)}
            self._parts.clear()

    def _result(self, data: Block) -> Block:
        result = {"type": "tool_result", "tool_call_id": data["call_id"]}
        named = {"name": self._name_of(data["call_id"])}
        return {**result, **named, "content": data["result"], "is_error": data["is_error"]}

    def _name_of(self, call_id: str) -> str:
        """The name of the first call with that id; all are gone through once, however many results come."""
        if self._names is None:
            self._names = {}
            for block in self._blocks:
                self._keep_name(block)
        return self._names.get(call_id, "")

    def _keep_name(self, block: Block) -> None:
        if self._names is not None and block["type"] == "tool_call":
            self._names.setdefault(block["id"], block["name"])


def _call(data: Block) -> Block:
    named = {"id": data["call_id"], "name": data["name"]}
    return {"type": "tool_call", **named, "arguments": data["arguments"]}


def started_calls(state: RunState) -> frozenset[str]:
    """The ids of the calls that were begun, whether they ended or not."""
    return frozenset(block["id"] for block in state.blocks if block["type"] == "tool_call")


def partial_answer(state: RunState) -> list[Block]:
    """What is kept of an answer that broke off: its last text or thought is marked stopped.

    Nothing where no answer had begun.
    """
    if not state.blocks:
        return []
    last = state.blocks[-1]
    if last["type"] not in {"text", "thinking"}:
        return list(state.blocks)
    return [*state.blocks[:-1], {**last, "stopped": True}]
