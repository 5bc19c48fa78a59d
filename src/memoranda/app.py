"""The one place where the parts are joined into the product."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self
from uuid import UUID

import anyio

from memoranda.access.models import Principal
from memoranda.access.rates.service import Rates, limits_of
from memoranda.access.service import Access
from memoranda.briefs.blocks import store as blocks
from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.dossier import DossierReader
from memoranda.briefs.own_sources import own_sources
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.service import Briefs
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.finding.service import ConversationSearch
from memoranda.conversations.listeners import Listeners
from memoranda.conversations.service import Conversations
from memoranda.conversing import chats_of, clear_user, conversations_of
from memoranda.files.proposals.service import FileProposals
from memoranda.files.service import Files
from memoranda.graphs.service import Graphs
from memoranda.instructions import store as told
from memoranda.instructions.meter import LoadMeter
from memoranda.instructions.service import Instructions
from memoranda.jobs.bell import Bell
from memoranda.jobs.nightly import Step
from memoranda.jobs.shift import Kinds, make_worker
from memoranda.jobs.worker import Worker, at_work
from memoranda.kept.service import Kept, counts_of_user, kept_of, things
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.models import COLLECTION as KNOWN
from memoranda.knowledge.service import Knowledge
from memoranda.memories.announce import nobody
from memoranda.memories.embedding.service import Embedding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.removal.models import AlsoErased, Elsewhere
from memoranda.memories.removal.service import Removal
from memoranda.memories.service import Memories
from memoranda.memories.transfer.service import Transfer
from memoranda.memories.ways import Ways
from memoranda.runs.events.service import Events
from memoranda.runs.service import Runs
from memoranda.search.embedders.choice import Embedders, choose
from memoranda.search.vectors.parts import cache_of
from memoranda.search.vectors.service import Vectors
from memoranda.settings import Settings
from memoranda.state.definitions.service import Definitions
from memoranda.state.definitions.skills.service import AgentSkills
from memoranda.state.dossier import store as dossiers
from memoranda.state.dossier.service import Dossier
from memoranda.state.file import read_state
from memoranda.state.projections import HostState
from memoranda.state.service import StateReader
from memoranda.storage import Storage, Transaction
from memoranda.storage import migrate as bring_up_to_date
from memoranda.storage.health import check_place
from memoranda.toolbox import granted_tools, toolbox
from memoranda.tools import forgetting
from memoranda.tools.inbox.service import Inbox
from memoranda.tools.nodes import node_check
from memoranda.tools.registry import ToolRegistry
from memoranda.tools.service import Tools
from memoranda.words.clock import Clock, system_clock
from memoranda.words.estimators import ESTIMATORS
from memoranda.words.given import checked


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
    conversation_search: ConversationSearch
    chats: Chats
    knowledge: Knowledge
    briefs: Briefs
    state: StateReader
    dossier: Dossier
    dossier_reader: DossierReader
    definitions: Definitions
    files: Files
    file_proposals: FileProposals
    skills: AgentSkills
    instructions: Instructions
    load_meter: LoadMeter
    graphs: Graphs
    kept: Kept
    tools: Tools
    inbox: Inbox
    worker: Worker
    owner: Principal

    @classmethod
    @asynccontextmanager
    @checked
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
                joined = cls._join(_Ground(storage, settings, clock, rows), owner)
                async with at_work(joined.worker if work else None):
                    yield joined
        finally:
            # Whoever cancels the block still wants what was queued to be written.
            with anyio.CancelScope(shield=True):
                if joined is not None:
                    await joined.memories.settled()
                    await joined.tools.settled()
                    await joined.events.close()
                    await joined.knowledge.close()
                    await joined.conversation_search.close()
                    await joined.conversations.close()
                    if joined.vectors is not None:
                        await joined.vectors.close()
                await storage.close()

    @classmethod
    def _join(cls, ground: "_Ground", owner: Principal) -> Self:
        storage, settings, state, wake = ground.storage, ground.settings, ground.state, ground.wake
        vectors, ways = ground.vectors, ground.ways
        embedding, runs, files = Embedding(storage, ground.embedders), ground.runs, ground.files
        memories = Memories(
            storage, ways, wake, vectors, resolver=state, estimator=ground.estimator
        )
        conversations, chats, dossier = ground.conversations, ground.chats, Dossier(storage)
        finders = dossier.quoting, files.quoting, chats.quoting, ground.kept.quoting
        quoted = Elsewhere(_clear_memories, _clear_user, *finders)
        removal = _removal(storage, ways, conversations, ground.events, vectors, elsewhere=quoted)
        knowledge = _knowledge(ground)
        reader, bell, chars = DossierReader(dossier, knowledge), Bell(), settings.tool_reply_chars
        briefs = _briefs(ground, memories, knowledge, conversations, reader)
        instructions = _instructions(ground, memories, lambda: tools)
        meter, hurry = _load_meter(ground, instructions), bell.ring
        known = memories, ways, knowledge
        kinds = Kinds(knowledge, embedding, ground.said, chats.live)
        box = toolbox(
            *known, briefs, files, said=ground.said, meter=meter, chars=chars, hurry=hurry
        )
        tools = _tools(storage, box, ground.events, settings)
        proposals, changes = Proposals(storage, ways, wake, vectors), FileProposals(storage, wake)
        nights = _nights(ground, removal, ground.rates, tools, embedding)
        nights.append(Step("pruning of the texts of blocks", briefs.prune_blocks, again=True))
        nights.append(Step("pruning of the texts of runs", instructions.prune, again=True))
        return cls(
            settings=settings,
            storage=storage,
            access=Access(storage),
            rates=ground.rates,
            runs=runs,
            events=ground.events,
            memories=memories,
            proposals=proposals,
            removal=removal,
            transfer=Transfer(storage, ways, wake),
            vectors=vectors,
            embedding=embedding,
            conversations=conversations,
            conversation_search=ground.said,
            chats=chats,
            knowledge=knowledge,
            briefs=briefs,
            state=state,
            dossier=dossier,
            dossier_reader=reader,
            definitions=Definitions(storage, node_check(box)),
            files=files,
            file_proposals=changes,
            skills=AgentSkills(storage),
            instructions=instructions,
            load_meter=meter,
            graphs=ground.graphs,
            kept=ground.kept,
            tools=tools,
            inbox=Inbox(proposals, tools.approvals, changes),
            worker=make_worker(storage, settings, kinds, nights, bell),
            owner=owner,
        )


class _Ground:
    """What the subsystems stand on, and those that lean on none of the others."""

    def __init__(
        self, storage: Storage, settings: Settings, clock: Clock, state: StateReader
    ) -> None:
        self.storage, self.settings, self.clock, self.state = storage, settings, clock, state
        self.embedders = choose(settings)
        self.vectors = _vectors(storage, self.embedders, settings)
        models = self.vectors.models if self.vectors else ()
        self.ways = Ways(MemoryLimits.of(settings), models=models)
        self.estimator = ESTIMATORS[settings.estimator]
        self.rates = Rates(storage, limits_of(settings), clock=clock)
        self.events = Events(storage)
        self.wake = self.events.wake
        self.runs = Runs(storage, self.wake)
        self.files = Files(storage, self.wake)
        self.texts_kept = timedelta(days=settings.blocks_days)
        self.said = ConversationSearch.of(storage, self.embedders, settings)
        heard = Listeners(self.wake)
        self.conversations = conversations_of(storage, self.ways, heard, settings)
        self.chats = chats_of(storage, heard, self.wake, settings, self.events.closed)
        self.graphs = Graphs.of(storage, self.embedders, settings.embedder_timeout_s)
        self.kept = kept_of(storage, self.graphs, self.conversations)


def _knowledge(ground: _Ground) -> Knowledge:
    cache_of(ground.storage.memory, KNOWN).max_bytes = ground.settings.vector_cache_mb * 2**20
    return Knowledge(
        ground.storage,
        max_bytes=ground.settings.max_upload_bytes,
        embedding=DocumentEmbedding(ground.storage, ground.embedders),
        timeout_s=ground.settings.embedder_timeout_s,
    )


def _briefs(
    ground: _Ground,
    memories: Memories,
    knowledge: Knowledge,
    conversations: Conversations,
    dossier: DossierReader,
) -> Briefs:
    registry = own_sources(
        ground.storage,
        memories=memories,
        knowledge=knowledge,
        conversations=conversations,
        state=ground.state,
        dossier=dossier,
        estimator=ground.estimator,
    )
    packer, timeout_s = ContextPacker(ground.estimator), ground.settings.source_timeout_s
    builder = DefaultContextBuilder(registry, packer, source_timeout_s=timeout_s)
    kept = ground.texts_kept
    return Briefs(ground.storage, ground.runs, conversations, registry, builder, blocks_kept=kept)


def _instructions(ground: _Ground, memories: Memories, tools: Callable[[], Tools]) -> Instructions:
    return Instructions(
        ground.storage,
        memories,
        granted_tools(tools),
        estimator=ground.settings.estimator,
        kept=ground.texts_kept,
        changed=ground.wake,
    )


def _load_meter(ground: _Ground, instructions: Instructions) -> LoadMeter:
    return LoadMeter(
        ground.storage,
        ground.files,
        instructions.gathering,
        estimator=ground.settings.estimator,
        clock=ground.clock,
    )


def _removal(
    storage: Storage,
    ways: Ways,
    conversations: Conversations,
    events: Events,
    vectors: Vectors | None,
    *,
    elsewhere: Elsewhere,
) -> Removal:
    return Removal(
        storage,
        ways,
        quoting=conversations.quoting,
        changed=events.wake,
        evict=vectors.evict if vectors else nobody,
        elsewhere=elsewhere,
    )


def _clear_memories(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    forgetting.clear(tx, memory_ids)
    blocks.clear(tx, memory_ids)
    told.clear(tx, memory_ids)


def _clear_user(tx: Transaction, user_id: UUID) -> AlsoErased:
    kept = things(counts_of_user(tx, user_id))
    also = clear_user(tx, user_id)._replace(kept=kept)
    forgetting.clear_user(tx, user_id)
    blocks.clear_user(tx, user_id)
    told.clear_user(tx, user_id)
    dossiers.remove_section(tx, user_id)
    return also


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
    ground: _Ground, removal: Removal, rates: Rates, tools: Tools, embedding: Embedding
) -> list[Step]:
    return [
        Step("purge of what was forgotten long ago", removal.purge_due, again=True),
        Step("pruning of events", ground.events.prune, again=True),
        Step("pruning of rates", rates.prune),
        Step("pruning of receipts", tools.prune, again=True),
        Step("pruning of decided approvals", tools.approvals.prune, again=True),
        Step("pruning of the journal of calls", tools.journal.prune, again=True),
        Step("pruning of old revisions of files", ground.files.prune, again=True),
        Step("pruning of replaced messages", ground.conversations.prune, again=True),
        Step("sweep of what can't be found", embedding.sweep, again=True),
        Step("pruning of graphs' expired items", ground.graphs.items.prune, again=True),
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
