"""Measures conversations: a turn appended to a short and a long one, 1,000 messages loaded, and events of runs told, side by side."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final
from uuid import UUID

from checkpoints import checkpointer
from databases import ROOT, database_options
from measure import Result, Round, arguments, compare, in_loop, race, show
from places import Place, places
from recorded import Recording, record
from rivals import RawPostgres, RawSqlite
from sessions import session
from telling import tells
from turns import LONG, MANY, OURS, SHORT, TURN, Turns, said

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.service import Conversations
from memoranda.settings import Settings
from memoranda.storage import Storage

APPENDS: Final = 20
"""Turns in one round; of those who write the whole list each time, fewer."""
LOADS: Final = 5
FLAT: Final = 1.3
NEAR_RAW: Final = 2.0


def main() -> None:
    """Print a table for each database."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    options = parser.parse_args()
    if options.quick:
        options.rounds = 2
    sys.path.insert(0, str(ROOT))
    from tests.network import refuse_outside  # noqa: PLC0415 - a checkout's, not the product's

    sys.addaudithook(refuse_outside)
    with places(options) as found:
        for place in found:
            results = asyncio.run(measure(place, options))
            show(f"Conversations on {place.kind}", results, as_json=options.json)


async def measure(place: Place, options: argparse.Namespace) -> list[Result]:
    """Let all who are there append, load and save in turn."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(opened(place))
        sides = [ours.turns]
        for rival in (session, checkpointer):
            try:
                sides += await stack.enter_async_context(rival(place, options.rounds))
            except ImportError as error:
                print(f"Left out: {error}. `./dev bench` installs it.", file=sys.stderr)
        return [
            *await appends(sides, options.rounds),
            *await loads(ours, sides, place, options.rounds),
            *await saves(sides, options.rounds),
            *await tells(ours.memoranda, options.rounds),
        ]


@dataclass(frozen=True)
class Ours:
    """The opened product as a side, and what its raw program needs."""

    turns: Turns
    memoranda: Memoranda
    url: str
    who: Principal
    key: ConversationKey


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[Ours]:
    """The product on a database of its own, with short conversations made as they are needed."""
    url = place.empty()
    settings = Settings(db=url, embedder="none")
    async with Memoranda.open(settings=settings) as memoranda:
        talks, who, numbers = memoranda.conversations, memoranda.owner, count()
        long, many, whole = (
            ConversationKey(workflow_id=name) for name in ("long", "many", "whole")
        )
        for key, length in ((long, LONG), (many, MANY), (whole, MANY)):
            await talks.save(who, key, messages(length), fence=0)
        short: list[UUID] = []
        for _ in range(APPENDS * 24):
            made = await talks.create(who)
            short.append((await talks.append(who, made.id, messages(SHORT))).id)
        saved = messages(MANY)

        async def append(length: int) -> None:
            at = short[next(numbers) % len(short)] if length == SHORT else long
            await talks.append(who, at, messages(TURN, length))

        async def load() -> int:
            return len((await talks.load(who, many)).messages)

        async def save() -> None:
            saved.extend(messages(TURN, len(saved)))
            await talks.save(who, whole, saved, fence=0)

        yield Ours(Turns(OURS, append, load, save, APPENDS), memoranda, url, who, many)


async def appends(sides: list[Turns], rounds: int) -> list[Result]:
    """Each side's turn at the end of a long conversation beside its own at the end of a short one, and all beside ours."""
    rivals: dict[str, Round] = {}
    operations: dict[str, int] = {}
    for side in sides:
        for length in (SHORT, LONG):
            rivals[named(side, length)] = some(side.append, side.at_once, length)
            operations[named(side, length)] = side.at_once
    times = await race(rivals, rounds=rounds, operations=operations)
    ours = sides[0]
    results = [
        compare(
            f"{side.name}: a turn at {LONG:,} messages",
            times,
            ours=named(side, LONG),
            rival=named(side, SHORT),
            at_most=FLAT if side is ours else None,
            note=side.note,
        )
        for side in sides
    ]
    for length in (SHORT, LONG):
        results += [
            compare(
                f"a turn at {length:,} messages",
                times,
                ours=named(ours, length),
                rival=named(side, length),
                note=side.note,
            )
            for side in sides[1:]
        ]
    return results


async def loads(ours: Ours, sides: list[Turns], place: Place, rounds: int) -> list[Result]:
    """All of 1,000 messages beside the same statements by the driver alone, their JSON read too."""
    [recording] = await record(ours.url, [loading(ours)])
    raw = raw_load(place, ours, recording)
    rivals: dict[str, Round] = {side.name: some(side.load, LOADS) for side in sides}
    rivals["the driver and json"] = in_loop(lambda: [raw() for _ in range(LOADS)])
    times = await race(rivals, rounds=rounds, operations=LOADS)
    what = f"load of {MANY:,} messages"
    return [
        compare(
            what,
            times,
            ours=OURS,
            rival=name,
            at_most=NEAR_RAW if name.startswith("the driver") else None,
        )
        for name in times
        if name != OURS
    ]


async def saves(sides: list[Turns], rounds: int) -> list[Result]:
    """The whole list of 1,000 messages given again with a turn more; whoever has no such verb is left out."""
    able = [side for side in sides if side.save is not None]
    rivals = {side.name: some(side.save, LOADS) for side in able if side.save is not None}
    times = await race(rivals, rounds=rounds, operations=LOADS)
    what = f"save of {MANY:,} messages and a turn"
    ours, rest = able[0], able[1:]
    return [compare(what, times, ours=ours.name, rival=side.name, note=side.note) for side in rest]


def loading(ours: Ours) -> Callable[[Storage], Any]:
    return lambda storage: Conversations(storage).load(ours.who, ours.key)


def raw_load(place: Place, ours: Ours, recording: Recording) -> Callable[[], int]:
    """Run what a load runs, and read the JSON of each row."""
    organization = ours.who.organization_id
    assert organization is not None
    raw = RawSqlite(ours.url) if place.kind == "sqlite" else RawPostgres(ours.url, organization)
    last = recording[-1]

    def run() -> int:
        rows = raw.rows(recording[:-1], last)
        return len([(row[0], json.loads(row[1]), json.loads(row[2]), row[3]) for row in rows])

    return run


def some(work: Callable[..., Any], times: int, *of: object) -> Round:
    async def run() -> None:
        for _ in range(times):
            await work(*of)

    return run


def named(side: Turns, length: int) -> str:
    return f"{side.name} at {length:,}"


def messages(length: int, first: int = 0) -> list[Message]:
    return [Message.model_validate(said(number)) for number in range(first, first + length)]


if __name__ == "__main__":
    main()
