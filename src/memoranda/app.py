"""The one place where the parts are joined into the product."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self
from uuid import UUID

import anyio

from memoranda.access.models import Principal
from memoranda.access.rates.service import Rate, Rates
from memoranda.access.service import Access
from memoranda.briefs.blocks import store as blocks
from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.dossier import DossierReader
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.registry import ContextSource, ContextSourceRegistry
from memoranda.briefs.service import Briefs
from memoranda.briefs.sources.application import ApplicationSource
from memoranda.briefs.sources.conversation import ConversationSource
from memoranda.briefs.sources.definition_summary import DefinitionSummarySource
from memoranda.briefs.sources.dossier import DossierSource
from memoranda.briefs.sources.knowledge import KnowledgeSource
from memoranda.briefs.sources.memory import MemorySource
from memoranda.briefs.sources.outreach import OUTREACH, OutreachSource
from memoranda.briefs.sources.personal_memory import PersonalMemorySource
from memoranda.briefs.sources.run_history import RunHistorySource
from memoranda.conversations.service import Conversations
from memoranda.jobs.chores import Scrubbing, Sweeping, TakingIn
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
from memoranda.runs.history.service import RunHistory
from memoranda.runs.service import Runs
from memoranda.search.embedders.choice import Embedders, choose
from memoranda.search.vectors.service import Vectors
from memoranda.settings import Settings
from memoranda.state.definitions.service import Definitions
from memoranda.state.definitions.summaries import DefinitionSummaries
from memoranda.state.dossier import store as dossiers
from memoranda.state.dossier.service import Dossier
from memoranda.state.file import read_state
from memoranda.state.projections import HostState
from memoranda.state.service import StateReader
from memoranda.storage import Storage, Transaction
from memoranda.storage import migrate as bring_up_to_date
from memoranda.storage.health import check_place
from memoranda.toolbox import toolbox
from memoranda.tools import forgetting
from memoranda.tools.nodes import node_check
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
    state: StateReader
    dossier: Dossier
    dossier_reader: DossierReader
    definitions: Definitions
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
        state: HostState | None = None,
        clock: Clock = system_clock,
        migrate: bool = True,
        work: bool = False,
    ) -> AsyncIterator[Self]:
        """Open the database at `url`, or at the settings' `db`: a file, `sqlite:///…` or `postgresql://…`.

        Brings its schema up to date unless `migrate` is False, and makes the default
        organization when there is none. With `work`, the worker runs for as long as it is open:
        it takes in documents and makes vectors. `state` says which rows of an application's own
        database briefs may show, in the place of the settings' file. Raises what `Storage.open`,
        `StateReader.open` and `migrate` do, and
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
            declared = state or await asyncio.to_thread(_declared, settings)
            async with StateReader.open(storage, declared) as rows:
                joined = cls._join(storage, settings, owner, clock, rows)
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
    def _join(
        cls,
        storage: Storage,
        settings: Settings,
        owner: Principal,
        clock: Clock,
        state: StateReader,
    ) -> Self:
        embedders = choose(settings)
        vectors = _vectors(storage, embedders, settings)
        embedding = Embedding(storage, embedders)
        ways = Ways(_memory_limits(settings), models=vectors.models if vectors else ())
        events = Events(storage)
        runs = Runs(storage, events.wake)
        memories = Memories(storage, ways, events.wake, vectors, state)
        conversations = Conversations(storage)
        removal = _removal(storage, ways, conversations, events, vectors)
        knowledge = Knowledge(storage, max_bytes=settings.max_upload_bytes)
        dossier = Dossier(storage)
        reader = DossierReader(dossier, knowledge)
        registry = _sources(memories, knowledge, conversations, state, _told(storage, reader))
        builder = DefaultContextBuilder(
            registry, ContextPacker(), source_timeout_s=settings.source_timeout_s
        )
        briefs = Briefs(storage, runs, conversations, registry, builder)
        box = toolbox(memories, ways, knowledge, briefs, chars=settings.tool_reply_chars)
        tools = _tools(storage, box, events, settings)
        rates = Rates(storage, _rate_limits(settings), clock=clock)
        nights = _nights(removal, events, rates, tools, embedding)
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
            state=state,
            dossier=dossier,
            dossier_reader=reader,
            definitions=Definitions(storage, node_check(box)),
            tools=tools,
            worker=_worker(storage, knowledge, embedding, nights, settings),
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
    memories: Memories,
    knowledge: Knowledge,
    conversations: Conversations,
    state: StateReader,
    more: Sequence[ContextSource],
) -> ContextSourceRegistry:
    return ContextSourceRegistry(
        [
            MemorySource(memories),
            PersonalMemorySource(memories),
            KnowledgeSource(knowledge),
            ConversationSource(conversations),
            *more,
            *([ApplicationSource(state)] if state.has("application") else []),
            *(OutreachSource(state, each) for each in OUTREACH if state.has(each)),
        ]
    )


def _told(storage: Storage, reader: DossierReader) -> list[ContextSource]:
    return [
        DossierSource(reader),
        DefinitionSummarySource(DefinitionSummaries(storage)),
        RunHistorySource(RunHistory(storage)),
    ]


def _removal(
    storage: Storage,
    ways: Ways,
    conversations: Conversations,
    events: Events,
    vectors: Vectors | None,
) -> Removal:
    return Removal(
        storage,
        ways,
        quoting=conversations.quoting,
        changed=events.wake,
        evict=vectors.evict if vectors else nobody,
        elsewhere=Elsewhere(_clear_memories, _clear_user),
    )


def _worker(
    storage: Storage,
    knowledge: Knowledge,
    embedding: Embedding,
    nights: list[Step],
    settings: Settings,
) -> Worker:
    first = [Step("look for what can't be found yet", embedding.take_up, again=True)]
    return Worker(
        storage,
        [TakingIn(knowledge), Sweeping(knowledge), embedding, Scrubbing(storage)],
        Nightly(storage, nights, at=settings.nightly_at, first=first),
        poll=timedelta(seconds=settings.worker_poll_s),
    )


def _clear_memories(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    forgetting.clear(tx, memory_ids)
    blocks.clear(tx, memory_ids)


def _clear_user(tx: Transaction, user_id: UUID) -> None:
    forgetting.clear_user(tx, user_id)
    blocks.clear_user(tx, user_id)
    dossiers.remove_section(tx, user_id)


def _declared(settings: Settings) -> HostState | None:
    return None if settings.state is None else read_state(Path(settings.state).expanduser())


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
