"""A chat's run that tells what happens: one event more of a short run, and of long ones."""

from itertools import count
from typing import Final
from uuid import UUID

from measure import Result, Round, compare, race

from memoranda.app import Memoranda
from memoranda.conversations.chats.live.models import MOST_AT_ONCE, TextDelta

FEW: Final = 10
LENGTHS: Final = (2_000, 50_000)
"""The events that the runs have told."""
AT_ONCE: Final = 20
"""Events told one by one in a round."""
AS_FLAT: Final = 1.3
DELTA: Final = TextDelta(text="and a few words more, ")


async def tells(memoranda: Memoranda, rounds: int) -> list[Result]:
    """An event at the end of a long run beside one at the end of a short one, which is another one in each round."""
    short = [await telling(memoranda, FEW) for _ in range(rounds + 2)]
    long = {length: await telling(memoranda, length) for length in LENGTHS}
    turns = count()

    async def at_few() -> None:
        await _tell(memoranda, short[next(turns) % len(short)])

    def at(length: int) -> str:
        return f"memoranda, at {length:,} events"

    times = await race(
        {at(FEW): at_few, **{at(each): _some(memoranda, run) for each, run in long.items()}},
        rounds=rounds,
        operations=AT_ONCE,
    )
    return [
        compare(
            f"memoranda: an event told at {length:,} events",
            times,
            ours=at(length),
            rival=at(FEW),
            at_most=AS_FLAT,
        )
        for length in LENGTHS
    ]


async def telling(memoranda: Memoranda, length: int) -> UUID:
    """A run that has told so many events."""
    who, chats = memoranda.owner, memoranda.chats
    chat = await chats.create(who)
    run = (await chats.send(who, chat.id, "Tell me all of it.")).run
    last = (await chats.pick_up(who, run.id)).last_event
    while last < length:
        more = [DELTA] * min(length - last, MOST_AT_ONCE)
        last = (await chats.live.emit(who, run.id, more)).sequence
    return run.id


def _some(memoranda: Memoranda, run_id: UUID) -> Round:
    return lambda: _tell(memoranda, run_id)


async def _tell(memoranda: Memoranda, run_id: UUID) -> None:
    for _ in range(AT_ONCE):
        await memoranda.chats.live.emit(memoranda.owner, run_id, [DELTA])
