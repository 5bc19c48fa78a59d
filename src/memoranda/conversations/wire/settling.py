"""Calls and their results put where every provider wants them: each call answered once, right after it.

What is stored stays as it is. Here a request is made ready from a list that may have been cut by a
crash, a stop or a trim: an open call is answered, and a result that answers nothing is left out.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from memoranda.conversations.endings import NOT_WHOLE, UNANSWERED
from memoranda.conversations.wire.blocks import Block, ToolCall, ToolResult
from memoranda.conversations.wire.turns import Turn


@dataclass
class _Open:
    """A call and what answers it."""

    call: ToolCall
    result: ToolResult | None = None


@dataclass
class _Calling:
    """A turn that may call, and what of the tools' turns goes right after it."""

    turn: Turn
    calls: list[_Open]
    answers: list[Turn] = field(default_factory=list)


def settle(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with every call answered exactly once, in the turn that follows it.

    Turns that are settled already come back as they were.
    """
    steps = _with_answers(turns)
    return [turn for step in steps for turn in (step.turn, *_answers(step))]


def _with_answers(turns: Sequence[Turn]) -> list[_Calling]:
    steps: list[_Calling] = []
    waiting: dict[str, list[tuple[_Calling, _Open]]] = defaultdict(list)
    for turn in turns:
        if turn.role != "tool":
            step = _Calling(turn, [_Open(call) for call in turn.calls])
            steps.append(step)
            for opened in step.calls:
                waiting[opened.call.id].append((step, opened))
        else:
            _take_in(turn, steps, waiting)
    return steps


def _take_in(
    turn: Turn, steps: list[_Calling], waiting: dict[str, list[tuple[_Calling, _Open]]]
) -> None:
    """Give each result of a tools' turn to the call that waits for it, and keep the rest in its place."""
    here: list[tuple[_Calling, list[Block]]] = []
    for block in turn.blocks:
        step: _Calling | None = steps[-1] if steps else None
        if isinstance(block, ToolResult):
            asked = _latest(waiting[block.tool_call_id])
            if asked is None:
                continue  # answers nothing, or what is answered already
            step, opened = asked
            opened.result = block
        if step is None:
            continue
        if not here or here[-1][0] is not step:
            here.append((step, []))
        here[-1][1].append(block)
    for step, blocks in here:
        step.answers.append(turn.with_blocks(blocks))


def _latest(open_calls: list[tuple[_Calling, _Open]]) -> tuple[_Calling, _Open] | None:
    """Take the first of the latest turn's calls: models give one id to calls of several turns."""
    if not open_calls:
        return None
    latest = open_calls[-1][0]
    place = next(place for place, (step, _) in enumerate(open_calls) if step is latest)
    return open_calls.pop(place)


def _answers(step: _Calling) -> list[Turn]:
    unanswered = [opened.call for opened in step.calls if opened.result is None]
    if not unanswered:
        return step.answers
    return [*step.answers, Turn("tool", tuple(map(_stand_in, unanswered)))]


def _stand_in(call: ToolCall) -> ToolResult:
    """What is said of a call without a result: nobody runs one that is not whole, and else nobody knows."""
    said = NOT_WHOLE if call.stopped else UNANSWERED
    return ToolResult(tool_call_id=call.id, name=call.name, content=said, is_error=True)
