"""The one place where the parts are joined into the product."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

import anyio

from memoranda.access.models import Principal
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
from memoranda.jobs.worker import Worker
from memoranda.knowledge.service import Knowledge
from memoranda.memories.service import Memories
from memoranda.runs.service import Runs
from memoranda.settings import Settings
from memoranda.storage import Storage
from memoranda.storage import migrate as bring_up_to_date
from memoranda.storage.health import check_place
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
    runs: Runs
    memories: Memories
    conversations: Conversations
    knowledge: Knowledge
    briefs: Briefs
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
    ) -> AsyncIterator[Self]:
        """Open the database at `url`, or at the settings' `db`: a file, `sqlite:///…` or `postgresql://…`.

        Brings its schema up to date unless `migrate` is False, and makes the default
        organization when there is none. Raises what `Storage.open` and `migrate` do, and
        `UnwritableDatabase` where a SQLite file may not be written.
        """
        settings = settings or Settings.load()
        if url is not None:
            settings = settings.on(url)
        await asyncio.to_thread(check_place, settings.db)
        if migrate:
            await asyncio.to_thread(bring_up_to_date, settings.db)
        storage = await Storage.open(settings.db, clock=clock)
        try:
            yield cls._join(storage, settings, await Access(storage).ensure_default())
        finally:
            # Whoever cancels the block still wants what was queued to be written.
            with anyio.CancelScope(shield=True):
                await storage.close()

    @classmethod
    def _join(cls, storage: Storage, settings: Settings, owner: Principal) -> Self:
        runs = Runs(storage)
        memories = Memories(storage, max_text_chars=settings.max_memory_chars)
        conversations = Conversations(storage)
        knowledge = Knowledge(storage, max_bytes=settings.max_upload_bytes)
        registry = ContextSourceRegistry(
            [
                MemorySource(memories),
                PersonalMemorySource(memories),
                KnowledgeSource(knowledge),
                ConversationSource(conversations),
            ]
        )
        builder = DefaultContextBuilder(
            registry, ContextPacker(), source_timeout_s=settings.source_timeout_s
        )
        return cls(
            settings=settings,
            storage=storage,
            access=Access(storage),
            runs=runs,
            memories=memories,
            conversations=conversations,
            knowledge=knowledge,
            briefs=Briefs(storage, runs, conversations, registry, builder),
            worker=Worker(storage, knowledge, poll=timedelta(seconds=settings.worker_poll_s)),
            owner=owner,
        )
