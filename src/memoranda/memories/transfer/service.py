"""The verbs of exchange: export what the caller may know, and take in what a file holds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.memories.announce import Changed, announce, nobody
from memoranda.memories.audience import sees_everything
from memoranda.memories.candidate import Author
from memoranda.memories.errors import MemoriesFull, PinsFull
from memoranda.memories.models import Origin
from memoranda.memories.races import TRIES, write_again
from memoranda.memories.transfer import store, taking, writing
from memoranda.memories.transfer.entry import State
from memoranda.memories.transfer.limits import BATCH, MOST_REVISIONS, PAGE
from memoranda.memories.transfer.models import ImportReport, ImportSource, Progress
from memoranda.memories.transfer.parsing import Parsed, parse
from memoranda.memories.transfer.plan import Item, Plan, plan_of
from memoranda.memories.transfer.seen import Seen
from memoranda.memories.transfer.tally import Tally
from memoranda.memories.transfer.whom import Whom, find_people
from memoranda.memories.ways import DEFAULT_WAYS, Ways
from memoranda.storage import Row, Storage, StorageBusy
from memoranda.words.errors import DuplicateMemory, Refused
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import choice_input
from memoranda.words.subject import ContextSubject

_OVERTAKEN: Final = (DuplicateMemory, MemoriesFull, PinsFull)
"""What another writer has just taken, after it was looked up as free."""

Content = bytes | str | Iterable[bytes | str]


@checks_shapes
class Transfer:
    """Takes memories out as JSON Lines, and in from there and from other products' exports.

    `changed` is called with the organization after the commit of each batch.
    """

    def __init__(
        self, storage: Storage, ways: Ways = DEFAULT_WAYS, changed: Changed = nobody
    ) -> None:
        self._storage = storage
        self._ways = ways
        self._changed = changed

    async def export(self, who: Principal, *, history: bool = False) -> AsyncIterator[str]:
        """All that the caller may know, line by line: a header, waiting proposals, and memories.

        Each line ends with a line feed. Memories are active ones and those that can still be
        restored, oldest chain first; with `history`, each is followed by its revisions. Memories of a space
        are in nobody's export, and those about rows of an application in no agent's. What did not change makes the same bytes. Pages are read one
        transaction each: whatever changes meanwhile, no memory that stays for whom it is comes twice
        or is left out. Raises `Refused`.
        """
        organization = organization_for(who, Permission.READ_MEMORIES)
        reader = None if sees_everything(who) else subject_of(who)
        yield writing.header()
        async for row, whose in self._pages(organization, store.proposals, reader):
            yield writing.proposal_line(organization, row, whose)
        if not history:
            async for row, whose in self._pages(organization, store.chains, reader):
                yield writing.memory_line(organization, row, whose)
            return
        async for line in self._with_histories(organization, reader):
            yield line

    async def take_in(
        self,
        who: Principal,
        content: Content,
        *,
        source: ImportSource | str = ImportSource.AUTO,
        dry_run: bool = False,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        users: Mapping[str, UUID] | None = None,
        agents: Mapping[str, UUID] | None = None,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Remember what a file holds, its oldest first, and say what became of each of its entries.

        `content` is a whole file, or its lines. Every memory gets the origin `import`. `user_id` and
        `agent_id` give all of it to one; `users` and `agents` say whom a name of the file means here;
        else users are found by id or external id, and agents by id, slug or external id. No memory
        that is there is changed: what says the same is known, and what stands under the same
        attribute stays. Batches are committed one by one, so that an import that was stopped can
        be run again. A `dry_run` writes nothing and reports the same. Raises `UnreadableImport`,
        `ImportTooLarge`, `NotFound` for a user or agent that is named here and is not there, and `Refused`.
        """
        if who.role is Role.AGENT:
            raise Refused("An agent's key takes nothing in. Use a member's or an owner's key.")
        organization = organization_for(who, Permission.WRITE_MEMORIES)
        whom = Whom(user_id, agent_id, users or {}, agents or {})
        await self._storage.read(organization, find_people, who, whom, ())
        parsed = await asyncio.to_thread(
            parse, content, choice_input("source", source, ImportSource)
        )
        plan = await self._plan(organization, who, whom, parsed)
        tally = Tally()
        for refused in (*parsed.unread, *plan.refusals):
            tally.refuse(*refused)
        total = tally.done + len(plan.items)
        seen = Seen()
        for items in _batches(plan.items):
            batch = await self._take(organization, who, items, seen, dry_run=dry_run)
            seen.join(batch.seen)
            for decision in batch.decisions:
                tally.add(decision)
            if progress is not None:
                progress(tally.done, total)
        return tally.report(parsed.source, parsed.passed, dry_run=dry_run)

    async def _plan(self, organization: UUID, who: Principal, whom: Whom, parsed: Parsed) -> Plan:
        people = await self._storage.read(organization, find_people, who, whom, parsed.entries)
        return await asyncio.to_thread(
            plan_of,
            organization,
            people,
            parsed.entries,
            author=Author(Origin.IMPORT, user_id=who.user_id),
            text_chars=self._ways.limits.text_chars,
        )

    async def _take(
        self,
        organization: UUID,
        who: Principal,
        items: Sequence[Item],
        seen: Seen,
        *,
        dry_run: bool,
    ) -> taking.Batch:
        if dry_run:
            return await self._storage.read(organization, taking.look, items, seen, self._ways)
        for _ in range(TRIES):
            try:
                if items[0].state is State.PROPOSED:
                    batch = await write_again(
                        self._storage, organization, taking.propose, who, items[0], seen, self._ways
                    )
                else:
                    batch = await write_again(
                        self._storage, organization, taking.take, items, seen, self._ways
                    )
            except _OVERTAKEN:
                continue
            announce(self._changed, organization)
            return batch
        raise StorageBusy(
            "Others kept writing what was to be taken in. What was taken so far stays: try again."
        )

    async def _pages(
        self, organization: UUID, read: Callable[..., Any], reader: ContextSubject | None
    ) -> AsyncIterator[tuple[Row, store.Whose]]:
        after: UUID | None = None
        while True:
            rows, whose = await self._storage.read(organization, read, reader, after, PAGE)
            for row in rows:
                if not _kept_from(reader, row):
                    yield row, whose
            if len(rows) < PAGE:
                return
            after = rows[-1].id

    async def _with_histories(
        self, organization: UUID, reader: ContextSubject | None
    ) -> AsyncIterator[str]:
        after: UUID | None = None
        while True:
            rows, whose = await self._storage.read(organization, store.chains, reader, after, PAGE)
            revisions = self._revisions(organization, [row.id for row in rows])
            waiting = await anext(revisions, None)
            for row in rows:
                told = not _kept_from(reader, row)
                if told:
                    yield writing.memory_line(organization, row, whose)
                while waiting is not None and waiting.memory_id == row.id:
                    if told:
                        yield writing.revision_line(waiting)
                    waiting = await anext(revisions, None)
            if len(rows) < PAGE:
                return
            after = rows[-1].id

    async def _revisions(self, organization: UUID, memory_ids: list[UUID]) -> AsyncIterator[Row]:
        after: tuple[UUID, int] | None = None
        while memory_ids:
            rows = await self._storage.read(
                organization, store.revisions, memory_ids, after, MOST_REVISIONS
            )
            for row in rows:
                yield row
            if len(rows) < MOST_REVISIONS:
                return
            after = rows[-1].memory_id, rows[-1].version


def _kept_from(reader: ContextSubject | None, row: Row) -> bool:
    """Whether it is about a row of the application, which an agent is told of only where that is looked up."""
    return reader is not None and reader.agent_id is not None and bool(row.subject_refs)


def _batches(items: Sequence[Item]) -> Iterable[Sequence[Item]]:
    """Entries of one kind at a time; a proposal goes alone, because the inbox is held for it."""
    start = 0
    while start < len(items):
        state = items[start].state
        most = 1 if state is State.PROPOSED else BATCH
        end = start
        while end < len(items) and end - start < most and items[end].state is state:
            end += 1
        yield items[start:end]
        start = end
