"""A small synchronous face for scripts: the same code, run on an event loop of its own thread."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from anyio.from_thread import BlockingPortal, start_blocking_portal

from memoranda import app
from memoranda.briefs.models import ContextBrief, ContextPolicy
from memoranda.knowledge.models import SearchAnswer, Source, SourceKind
from memoranda.memories.models import Memory, Revision
from memoranda.settings import Settings
from memoranda.words.page import Page


class Memoranda:
    """The product for a script, acting as the owner of the default organization.

        with Memoranda("notes.db") as memoranda:
            memoranda.remember("Invoices go out on the first.")
            print(memoranda.brief("When do invoices go out?").text)

    Each verb promises and raises what the one of its name in the services does.
    """

    def __init__(self, url: str | None = None, *, settings: Settings | None = None) -> None:
        self._opening = partial(app.Memoranda.open, url, settings=settings)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._portal: BlockingPortal = stack.enter_context(start_blocking_portal())
            self._app = stack.enter_context(
                self._portal.wrap_async_context_manager(self._portal.call(self._opening))
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def remember(
        self,
        text: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        attribute: str | None = None,
        title: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        expires_at: datetime | None = None,
    ) -> Memory:
        """Keep a text; see `Memories.remember`."""
        return self._portal.call(
            partial(
                self._app.memories.remember,
                self._app.owner,
                text,
                user_id=user_id,
                agent_id=agent_id,
                attribute=attribute,
                title=title,
                category=category,
                tags=tags,
                expires_at=expires_at,
            )
        )

    def forget(self, memory_id: UUID) -> Memory:
        """Forget a memory; see `Memories.forget`."""
        return self._portal.call(self._app.memories.forget, self._app.owner, memory_id)

    def memories(self, *, limit: int = 50, cursor: str | None = None) -> Page[Memory]:
        """A page of what is remembered; see `Memories.page`."""
        page = partial(self._app.memories.page, limit=limit, cursor=cursor)
        return self._portal.call(page, self._app.owner)

    def history(self, memory_id: UUID) -> list[Revision]:
        """Every revision of a memory; see `Memories.history`."""
        return self._portal.call(self._app.memories.history, self._app.owner, memory_id)

    def knowledge_add(
        self, path: str | Path, *, kind: SourceKind | None = None, title: str | None = None
    ) -> Source:
        """Add a file and take it in: the source comes back `ready`, or `failed` with its reason."""
        path = Path(path)
        return self._portal.call(self._take_in, path.read_bytes(), kind, title or path.name)

    def knowledge_search(self, query: str, *, limit: int = 8) -> SearchAnswer:
        """Search what was added; see `Knowledge.search`."""
        search = partial(self._app.knowledge.search, limit=limit)
        return self._portal.call(search, self._app.owner, query)

    def brief(
        self,
        query: str,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        policy: ContextPolicy | Mapping[str, Any] | None = None,
        policy_name: str | None = None,
        budget: int | None = None,
        explain: bool = False,
    ) -> ContextBrief:
        """Build a brief; see `Briefs.build`."""
        return self._portal.call(
            partial(
                self._app.briefs.build,
                self._app.owner,
                query,
                agent_id=agent_id,
                user_id=user_id,
                policy=policy,
                policy_name=policy_name,
                budget=budget,
                explain=explain,
            )
        )

    async def _take_in(self, content: bytes, kind: SourceKind | None, title: str) -> Source:
        knowledge, owner = self._app.knowledge, self._app.owner
        source = await knowledge.add(owner, content, kind=kind, title=title)
        await self._app.worker.drain(owner.organization_id)
        return await knowledge.get(owner, source.id)
