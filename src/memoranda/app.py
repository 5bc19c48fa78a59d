"""The one place where the parts are joined into the product."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

import anyio

from memoranda.access.models import Principal
from memoranda.access.rates.service import Rate, Rates
from memoranda.access.service import Access
from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.registry import ContextSourceRegistry
from memoranda.briefs.service import Briefs
from memoranda.briefs.sources.conversation import ConversationSource
from memoranda.briefs.sources.knowledge import KnowledgeSource
from memoranda.briefs.sources.memory import MemorySource
from memoranda.briefs.sources.personal_memory import PersonalMemorySource
from memoranda.conversations.service import Conversations
from memoranda.jobs.chores import Scrubbing, TakingIn
from memoranda.jobs.nightly import Nightly, Step
from memoranda.jobs.worker import Worker
from memoranda.knowledge.service import Knowledge
from memoranda.memories.announce import nobody
from memoranda.memories.embedding.service import Embedding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.removal.models import Elsewhere
from memoranda.memories.removal.service import Removal
from memoranda.memories.service import Memories
from memoranda.memories.transfer.service import Transfer
from memoranda.memories.ways import Ways
from memoranda.runs.events.service import Events
from memoranda.runs.service import Runs
from memoranda.search.embedders.choice import Embedders, choose
from memoranda.search.vectors.service import Vectors
from memoranda.settings import Settings
from memoranda.storage import Storage
from memoranda.storage import migrate as bring_up_to_date
from memoranda.storage.health import check_place
from memoranda.toolbox import toolbox
from memoranda.tools import forgetting
from memoranda.tools.registry import ToolRegistry
from memoranda.tools.service import Tools
from memoranda.words.clock import Clock, system_clock


@dataclass(frozen=True)
class Memoranda:
    """The opened product: one attribute per subsystem, each with its verbs.

    `owner` is whom to act as where there is one organization and no keys: the
    owner of the default organization. `worker` is at rest until it is told to run.
    """

    settings: Settings
    storage: Storage
    access: Access
    rates: Rates
    runs: Runs
    events: Events
    memories: Memories
    proposals: Proposals
    removal: Removal
    transfer: Transfer
    vectors: Vectors | None
    embedding: Embedding
    conversations: Conversations
    knowledge: Knowledge
    briefs: Briefs
    tools: Tools
    worker: Worker
    owner: Principal

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock = system_clock,
        migrate: bool = True,
        work: bool = False,
    ) -> AsyncIterator[Self]:
        """Open the database at `url`, or at the settings' `db`: a file, `sqlite:///…` or `postgresql://…`.

        Brings its schema up to date unless `migrate` is False, and makes the default
        organization when there is none. With `work`, the worker runs for as long as it is open:
        it takes in documents and makes vectors. Raises what `Storage.open` and `migrate` do, and
        `UnwritableDatabase` where a SQLite file may not be written.
        """
        settings = settings or Settings.load()
        if url is not None:
            settings = settings.on(url)
        await asyncio.to_thread(check_place, settings.db)
        if migrate:
            await asyncio.to_thread(bring_up_to_date, settings.db)
        storage = await Storage.open(settings.db, clock=clock)
        joined = None
        try:
            # What a killed process left, and no worker was there to finish.
            await storage.scrub(left_for=timedelta(hours=1))
            owner = await Access(storage).ensure_default()
            joined = cls._join(storage, settings, owner, clock)
            async with _at_work(joined.worker if work else None):
                yield joined
        finally:
            # Whoever cancels the block still wants what was queued to be written.
            with anyio.CancelScope(shield=True):
                if joined is not None:
                    await joined.memories.settled()
                    await joined.tools.settled()
                    await joined.events.close()
                    if joined.vectors is not None:
                        await joined.vectors.close()
                await storage.close()

    @classmethod
    def _join(cls, storage: Storage, settings: Settings, owner: Principal, clock: Clock) -> Self:
        runs = Runs(storage)
        embedders = choose(settings)
        vectors = _vectors(storage, embedders, settings)
        embedding = Embedding(storage, embedders)
        ways = Ways(_memory_limits(settings), models=vectors.models if vectors else ())
        events = Events(storage)
        memories = Memories(storage, ways, events.wake, vectors)
        conversations = Conversations(storage)
        removal = Removal(
            storage,
            ways,
            quoting=conversations.quoting,
            changed=events.wake,
            evict=vectors.evict if vectors else nobody,
            elsewhere=Elsewhere(forgetting.clear, forgetting.clear_user),
        )
        knowledge = Knowledge(storage, max_bytes=settings.max_upload_bytes)
        registry = _sources(memories, knowledge, conversations)
        builder = DefaultContextBuilder(
            registry, ContextPacker(), source_timeout_s=settings.source_timeout_s
        )
        briefs = Briefs(storage, runs, conversations, registry, builder)
        box = toolbox(memories, ways, knowledge, briefs, chars=settings.tool_reply_chars)
        tools = _tools(storage, box, events, settings)
        rates = Rates(storage, _rate_limits(settings), clock=clock)
        nights = _nights(removal, events, rates, tools, embedding)
        first = [Step("look for what can't be found yet", embedding.take_up, again=True)]
        return cls(
            settings=settings,
            storage=storage,
            access=Access(storage),
            rates=rates,
            runs=runs,
            events=events,
            memories=memories,
            proposals=Proposals(storage, ways, events.wake, vectors),
            removal=removal,
            transfer=Transfer(storage, ways, events.wake),
            vectors=vectors,
            embedding=embedding,
            conversations=conversations,
            knowledge=knowledge,
            briefs=briefs,
            tools=tools,
            worker=Worker(
                storage,
                [TakingIn(knowledge), embedding, Scrubbing(storage)],
                Nightly(storage, nights, at=settings.nightly_at, first=first),
                poll=timedelta(seconds=settings.worker_poll_s),
            ),
            owner=owner,
        )


@asynccontextmanager
async def _at_work(worker: Worker | None) -> AsyncIterator[None]:
    """Let the worker run beside whoever is within, if there is to be one."""
    if worker is None:
        yield
        return
    # No task group: it would wrap what is raised within.
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def _sources(
    memories: Memories, knowledge: Knowledge, conversations: Conversations
) -> ContextSourceRegistry:
    return ContextSourceRegistry(
        [
            MemorySource(memories),
            PersonalMemorySource(memories),
            KnowledgeSource(knowledge),
            ConversationSource(conversations),
        ]
    )


def _tools(storage: Storage, box: ToolRegistry, events: Events, settings: Settings) -> Tools:
    return Tools(
        storage,
        box,
        events.wake,
        calls_per_run=settings.tool_calls_per_run,
        max_approvals=settings.max_approvals,
        kept=timedelta(days=settings.receipts_days),
    )


def _nights(
    removal: Removal, events: Events, rates: Rates, tools: Tools, embedding: Embedding
) -> list[Step]:
    return [
        Step("purge of what was forgotten long ago", removal.purge_due, again=True),
        Step("pruning of events", events.prune, again=True),
        Step("pruning of rates", rates.prune),
        Step("pruning of receipts", tools.prune, again=True),
        Step("pruning of decided approvals", tools.approvals.prune, again=True),
        Step("pruning of the journal of calls", tools.journal.prune, again=True),
        Step("sweep of what can't be found", embedding.sweep, again=True),
    ]


def _vectors(storage: Storage, embedders: Embedders | None, settings: Settings) -> Vectors | None:
    if embedders is None:
        return None
    return Vectors(
        storage,
        embedders,
        COLLECTION,
        cache_mb=settings.vector_cache_mb,
        timeout_s=settings.embedder_timeout_s,
    )


def _memory_limits(settings: Settings) -> MemoryLimits:
    return MemoryLimits(
        active=settings.max_memories,
        pinned=settings.max_pinned,
        waiting=settings.max_proposals,
        text_chars=settings.max_memory_chars,
    )


def _rate_limits(settings: Settings) -> dict[Rate, int]:
    return {
        Rate.MEMORY_WRITES: settings.writes_per_minute,
        Rate.LISTS: settings.lists_per_minute,
    }
