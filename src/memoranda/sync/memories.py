"""Memories, for scripts: remember, find, change, decide on proposals, take out and in."""

import math
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from memoranda import app
from memoranda.memories.models import (
    Memory,
    MemoryPage,
    MemorySearch,
    Proposal,
    Proposed,
    Recall,
    Revision,
)
from memoranda.memories.removal.models import Erased
from memoranda.memories.transfer.models import ImportReport, ImportSource
from memoranda.sync.opened import Opened
from memoranda.words.page import Page
from memoranda.words.ref import ResourceRef


class MemoryVerbs(Opened):
    """What is remembered, proposed, erased, exported and imported."""

    def remember(
        self,
        text: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        attribute: str | None = None,
        about: ResourceRef | None = None,
        title: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        expires_at: datetime | None = None,
        pinned: bool = False,
    ) -> Memory:
        """Keep a text; see `Memories.remember`."""
        return self._call(
            lambda at: at.memories.remember(
                at.owner,
                text,
                user_id=user_id,
                agent_id=agent_id,
                attribute=attribute,
                about=about,
                title=title,
                category=category,
                tags=tags,
                expires_at=expires_at,
                pinned=pinned,
            )
        )

    def forget(self, memory_id: UUID) -> Memory:
        """Forget a memory; see `Memories.forget`."""
        return self._call(lambda at: at.memories.forget(at.owner, memory_id))

    def memories(self, *, limit: int = 50, cursor: str | None = None) -> MemoryPage:
        """A page of what is remembered; see `Memories.page`."""
        return self._call(lambda at: at.memories.page(at.owner, limit=limit, cursor=cursor))

    def history(self, memory_id: UUID) -> list[Revision]:
        """Every revision of a memory; see `Memories.history`."""
        return self._call(lambda at: at.memories.history(at.owner, memory_id))

    def update(self, memory_id: UUID, **change: Any) -> Memory:
        """Change a memory's text, title, category, tags, expiry, pin or audience; see `Memories.update`."""
        return self._call(lambda at: at.memories.update(at.owner, memory_id, **change))

    def restore(self, memory_id: UUID) -> Memory:
        """Let a forgotten memory say again what it said; see `Memories.restore`."""
        return self._call(lambda at: at.memories.restore(at.owner, memory_id))

    def search(
        self,
        query: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
    ) -> MemorySearch:
        """Search memories, once what was remembered so far has its vectors; see `Memories.search`."""
        search = partial(_search, query=query, user_id=user_id, agent_id=agent_id, limit=limit)
        return self._call(search)

    def recall(
        self, query: str, *, user_id: UUID | None = None, agent_id: UUID | None = None
    ) -> Recall:
        """The block of memories for a run, likewise; see `Memories.recall`."""
        return self._call(partial(_recall, query=query, user_id=user_id, agent_id=agent_id))

    def propose(
        self,
        text: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        attribute: str | None = None,
    ) -> Proposed:
        """Propose to keep a text; see `Proposals.propose`."""
        return self._call(
            lambda at: at.proposals.propose(
                at.owner, text, user_id=user_id, agent_id=agent_id, attribute=attribute
            )
        )

    def proposals(self, *, limit: int = 50, cursor: str | None = None) -> Page[Proposal]:
        """A page of the proposals that wait; see `Proposals.page`."""
        return self._call(lambda at: at.proposals.page(at.owner, limit=limit, cursor=cursor))

    def accept(self, proposal_id: UUID, *, text: str | None = None) -> Memory:
        """Let a proposal become a memory; see `Proposals.accept`."""
        return self._call(lambda at: at.proposals.accept(at.owner, proposal_id, text=text))

    def discard(self, proposal_id: UUID) -> Proposal:
        """Discard a proposal; see `Proposals.discard`."""
        return self._call(lambda at: at.proposals.discard(at.owner, proposal_id))

    def tidy_up(self) -> list[Proposal]:
        """Propose to merge what says the same; see `Proposals.tidy_up`."""
        return self._call(lambda at: at.proposals.tidy_up(at.owner))

    def erase(self, memory_id: UUID) -> Erased:
        """Erase a memory for good; see `Removal.erase`."""
        return self._call(lambda at: at.removal.erase(at.owner, memory_id))

    def forget_all(self, confirm: str) -> int:
        """Forget everything that is remembered; see `Removal.forget_all`."""
        return self._call(lambda at: at.removal.forget_all(at.owner, confirm))

    def export(self, *, history: bool = False) -> Iterator[str]:
        """Everything that is remembered, line by line; see `Transfer.export`."""
        lines = self._call(partial(_export, history=history))
        while (line := self._call(lambda _: anext(lines, None))) is not None:
            yield line

    def take_in(
        self,
        content: bytes | str | Iterable[bytes | str],
        *,
        source: ImportSource | str = ImportSource.AUTO,
        dry_run: bool = False,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> ImportReport:
        """Remember what a file holds; see `Transfer.take_in`."""
        return self._call(
            lambda at: at.transfer.take_in(
                at.owner,
                content,
                source=source,
                dry_run=dry_run,
                user_id=user_id,
                agent_id=agent_id,
            )
        )


async def _export(at: app.Memoranda, *, history: bool) -> AsyncIterator[str]:
    return at.transfer.export(at.owner, history=history)


async def _search(at: app.Memoranda, **asked: Any) -> MemorySearch:
    await _catch_up(at)
    return await at.memories.search(at.owner, **asked)


async def _recall(at: app.Memoranda, **asked: Any) -> Recall:
    await _catch_up(at)
    return await at.memories.recall(at.owner, **asked)


async def _catch_up(at: app.Memoranda) -> None:
    """Make the vectors that wait: a script has no worker beside it."""
    organization_id = at.owner.organization_id
    if organization_id:
        await at.embedding.catch_up(organization_id, within_s=math.inf)
