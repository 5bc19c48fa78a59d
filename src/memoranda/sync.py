"""A small synchronous face for scripts: the same code, run on an event loop of its own thread."""

import math
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from anyio.from_thread import BlockingPortal, start_blocking_portal

from memoranda import app
from memoranda.access.models import Agent, Principal, Role, User
from memoranda.briefs.models import ContextBrief, ContextPolicy
from memoranda.knowledge.extract import uri_of
from memoranda.knowledge.models import SearchAnswer, Source, SourceKind
from memoranda.memories.models import Memory, MemorySearch, Proposal, Proposed, Recall, Revision
from memoranda.memories.removal.models import Erased
from memoranda.memories.transfer.models import ImportReport, ImportSource
from memoranda.settings import Settings
from memoranda.state.projections import HostState
from memoranda.storage.signals import KNOWLEDGE
from memoranda.tools.models import (
    Approval,
    Course,
    Decision,
    ToolCall,
    ToolOffer,
    ToolPolicy,
    ToolResult,
)
from memoranda.words.page import Page
from memoranda.words.ref import ResourceRef

T = TypeVar("T")


class Memoranda:
    """The product for a script, acting as the owner of the default organization.

        with Memoranda("notes.db") as memoranda:
            memoranda.remember("Invoices go out on the first.")
            print(memoranda.brief("When do invoices go out?").text)

    Each verb promises and raises what the one of its name in the services does, and
    RuntimeError outside of the `with` block.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        state: HostState | None = None,
    ) -> None:
        self._opening = partial(app.Memoranda.open, url, settings=settings, state=state)
        self._stack = ExitStack()
        self._opened: tuple[BlockingPortal, app.Memoranda] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal: BlockingPortal = stack.enter_context(start_blocking_portal())
            opened = stack.enter_context(
                portal.wrap_async_context_manager(portal.call(self._opening))
            )
            self._opened = portal, opened
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened = None
        self._stack.__exit__(kind, error, traceback)

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

    def memories(self, *, limit: int = 50, cursor: str | None = None) -> Page[Memory]:
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

    def tools(self) -> list[ToolOffer]:
        """The tools that a model can be given, with their schemas; see `Tools.offers`."""
        return self._call(lambda at: at.tools.offers(at.owner))

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        key: str | None = None,
        run_id: UUID | None = None,
    ) -> ToolResult:
        """Do a model's call of a tool, as an agent where one is named; see `Tools.call`."""
        course = Course(run_id=run_id)
        return self._call(
            lambda at: at.tools.call(
                _caller(at.owner, agent_id, user_id), tool, dict(arguments), key=key, course=course
            )
        )

    def calls(self, *, limit: int = 50, cursor: str | None = None) -> Page[ToolCall]:
        """A page of the journal of calls, the newest first; see `Journal.page`."""
        return self._call(lambda at: _calls(at, limit, cursor))

    def approvals(self, *, limit: int = 50, cursor: str | None = None) -> Page[Approval]:
        """A page of the calls that wait for a person; see `Approvals.page`."""
        return self._call(lambda at: at.tools.approvals.page(at.owner, limit=limit, cursor=cursor))

    def approve(self, approval_id: UUID) -> Approval:
        """Let a call that waits be done; see `Approvals.approve`."""
        return self._call(lambda at: at.tools.approvals.approve(at.owner, approval_id))

    def deny(self, approval_id: UUID) -> Approval:
        """Refuse a call that waits; see `Approvals.deny`."""
        return self._call(lambda at: at.tools.approvals.deny(at.owner, approval_id))

    def set_tool_policy(self, agent: UUID | str, tool: str, decision: Decision) -> ToolPolicy:
        """Say what an agent may do with a tool; see `ToolPolicies.set`."""
        return self._call(lambda at: at.tools.policies.set(at.owner, agent, tool, decision))

    def knowledge_add(
        self,
        path: str | Path,
        *,
        kind: SourceKind | None = None,
        title: str | None = None,
        uri: str | None = None,
    ) -> Source:
        """Add a file and take it in: the source comes back `ready`, or `failed` with its reason.

        The same file again is the same source, unless another `uri` says where it is from.
        """
        name = Path(path).name
        add = partial(
            _take_in,
            content=Path(path).read_bytes(),
            kind=kind,
            filename=name,
            title=title or name,
            uri=uri or uri_of(path),
        )
        return self._call(add)

    def knowledge_search(self, query: str, *, limit: int = 8) -> SearchAnswer:
        """Search what was added; see `Knowledge.search`."""
        return self._call(lambda at: at.knowledge.search(at.owner, query, limit=limit))

    def brief(
        self,
        query: str,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        policy: ContextPolicy | Mapping[str, Any] | None = None,
        policy_name: str | None = None,
        entities: object = (),
        budget: int | None = None,
        explain: bool = False,
    ) -> ContextBrief:
        """Build a brief; see `Briefs.build`."""
        return self._call(
            lambda at: at.briefs.build(
                at.owner,
                query,
                agent_id=agent_id,
                user_id=user_id,
                policy=policy,
                policy_name=policy_name,
                entities=entities,
                budget=budget,
                explain=explain,
            )
        )

    def create_user(self, name: str, external_id: str | None = None) -> User:
        """Make a user, whose `id` is a `user_id`; see `Access.create_user`."""
        return self._call(lambda at: at.access.create_user(at.owner, name, external_id))

    def user(self, name: UUID | str) -> User:
        """Find a user by id or external id; see `Access.user`."""
        return self._call(lambda at: at.access.user(at.owner, name))

    def users(self, *, limit: int = 100, cursor: str | None = None) -> Page[User]:
        """A page of the users; see `Access.users`."""
        return self._call(lambda at: at.access.users(at.owner, limit=limit, cursor=cursor))

    def create_agent(
        self, slug: str, name: str | None = None, external_id: str | None = None
    ) -> Agent:
        """Make an agent, whose `id` is an `agent_id`; see `Access.create_agent`."""
        return self._call(lambda at: at.access.create_agent(at.owner, slug, name, external_id))

    def agent(self, name: UUID | str) -> Agent:
        """Find an agent by id, slug or external id; see `Access.agent`."""
        return self._call(lambda at: at.access.agent(at.owner, name))

    def agents(self, *, limit: int = 100, cursor: str | None = None) -> Page[Agent]:
        """A page of the agents; see `Access.agents`."""
        return self._call(lambda at: at.access.agents(at.owner, limit=limit, cursor=cursor))

    def _call(self, verb: Callable[[app.Memoranda], Awaitable[T]]) -> T:
        """Run a verb on the loop of the opened product, and wait for it."""
        if self._opened is None:
            raise RuntimeError(
                "Memoranda is not open: use it within `with Memoranda(…) as memoranda:`."
            )
        portal, opened = self._opened
        return portal.call(verb, opened)


def _caller(owner: Principal, agent_id: UUID | None, user_id: UUID | None) -> Principal:
    """The agent, perhaps for a user, as a key of it would be; the owner where none is named."""
    if agent_id is None:
        return owner
    return Principal(
        organization_id=owner.organization_id,
        role=Role.AGENT,
        agent_id=agent_id,
        user_id=user_id,
    )


async def _calls(at: app.Memoranda, limit: int, cursor: str | None) -> Page[ToolCall]:
    await at.tools.settled()
    return await at.tools.journal.page(at.owner, limit=limit, cursor=cursor)


async def _export(at: app.Memoranda, *, history: bool) -> AsyncIterator[str]:
    return at.transfer.export(at.owner, history=history)


async def _take_in(at: app.Memoranda, *, content: bytes, **given: Any) -> Source:
    source = await at.knowledge.add(at.owner, content, **given)
    await at.worker.drain(at.owner.organization_id, kind=KNOWLEDGE)
    return await at.knowledge.get(at.owner, source.id)


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
