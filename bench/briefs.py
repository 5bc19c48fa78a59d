"""Measures a brief over four sources beside the query of its slowest source, alone in the same run."""

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from databases import database_options, databases, settle
from filled import CHUNKS_OF_EACH, DOCUMENTS, MEMORIES, MESSAGES, Filled, fill
from measure import Result, Round, arguments, compare, duration, race, show

from memoranda.app import Memoranda

TIMES: Final = 1.5
EXTRA_S: Final = 0.005
QUERIES_A_ROUND: Final = 8
KNOWLEDGE_CHUNKS: Final = 100
"""What the knowledge source looks at for the 20 items of the default policy."""

Asks = Callable[[str], Awaitable[object]]


def main() -> None:
    """Print a table for each database."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    options = parser.parse_args()
    with databases(options) as urls:
        for name, url in urls.items():
            result = asyncio.run(measure(url, options))
            show(f"Briefs on {name}", [result], as_json=options.json)


async def measure(url: str, options: argparse.Namespace) -> Result:
    """Race a whole brief against each source's own query."""
    async with Memoranda.open(url) as product:
        filled = await fill(product)
        settle(url)
        asks = {"brief": brief(product, filled), **sources(product, filled)}
        rounds = {name: asking(filled, each) for name, each in asks.items()}
        times = await race(rounds, rounds=options.rounds, operations=QUERIES_A_ROUND)
    medians = {name: statistics.median(each) for name, each in times.items() if name != "brief"}
    slowest = max(medians, key=lambda name: medians[name])
    what = (
        f"brief over {MEMORIES:,} memories, {DOCUMENTS * CHUNKS_OF_EACH:,} chunks, "
        f"{MESSAGES} messages"
    )
    result = compare(what, times, ours="brief", rival=slowest)
    alone = ", ".join(f"{name} {duration(each)}" for name, each in medians.items())
    return replace(
        result,
        rival=f"its slowest source alone, {slowest}",
        bound=f"at most {TIMES:g} times and {EXTRA_S * 1e3:g} ms",
        within=result.ours_s <= TIMES * result.rival_s + EXTRA_S,
        note=f"{(result.ours_s - result.rival_s) * 1e3:+.1f} ms; alone: {alone}",
    )


def brief(product: Memoranda, filled: Filled) -> Asks:
    """A brief under the default policy, with every source answering."""
    subject = filled.subject

    async def ask(query: str) -> None:
        built = await product.briefs.build(
            product.owner,
            query,
            agent_id=subject.agent_id,
            user_id=subject.user_id,
            conversation=filled.conversation_id,
        )
        assert len(built.per_source_tokens) == 4, "every source has something to say"
        assert not built.failed_sources, "and none of them failed"

    return ask


def sources(product: Memoranda, filled: Filled) -> dict[str, Asks]:
    """What each source asks of its subsystem, by itself."""
    subject = filled.subject
    return {
        "memory": lambda _: product.memories.recent(subject, personal=False, limit=20),
        "personal_memory": lambda _: product.memories.recent(subject, personal=True, limit=20),
        "conversation": lambda _: product.conversations.recent(
            subject, filled.conversation_id, 999
        ),
        "knowledge": lambda query: product.knowledge.find(
            subject,
            query,
            limit=KNOWLEDGE_CHUNKS,
            include_organization=True,
            include_platform=False,
        ),
    }


def asking(filled: Filled, ask: Asks) -> Round:
    async def run() -> None:
        for query in filled.queries[:QUERIES_A_ROUND]:
            await ask(query)

    return run


if __name__ == "__main__":
    main()
