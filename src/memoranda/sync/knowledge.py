"""Knowledge, for scripts: add a file and have it taken in, and search."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from memoranda import app
from memoranda.knowledge.extract import uri_of
from memoranda.knowledge.models import ModelStatus, SearchAnswer, Source, SourceKind
from memoranda.storage.signals import KNOWLEDGE
from memoranda.sync.opened import Opened, Room
from memoranda.words.page import Page

IDLE: Final = timedelta(seconds=2)
"""How long a verb waits for work that another process holds, or that has to be tried again later."""


class KnowledgeVerbs(Opened):
    """Documents, and what they say."""

    def knowledge_add(
        self,
        path: str | Path,
        *,
        kind: SourceKind | None = None,
        title: str | None = None,
        uri: str | None = None,
    ) -> Source:
        """Add a file and take it in: the source comes back `ready`, or `failed` with its reason.

        While its embedder is away it comes back `pending`, and `progress.waits_for` says why.
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


async def _take_in(at: app.Memoranda, *, content: bytes, **given: Any) -> Source:
    source = await at.knowledge.add(at.owner, content, **given)
    return await _ended(at, source.id)


async def _ended(at: app.Memoranda, source_id: UUID) -> Source:
    """Work until the source has come to its end. One that waits for its embedder comes back as it is."""
    while True:
        await at.worker.drain(at.owner.organization_id, kind=KNOWLEDGE, idle=IDLE)
        source = await at.knowledge.get(at.owner, source_id)
        if source.progress is None or source.progress.waits_for is not None:
            return source


class Knowledge(Room):
    """Documents that were added, and the model that finds them by meaning; each verb is that of `Knowledge`."""

    def get(self, source_id: UUID) -> Source:
        """A source; see `Knowledge.get`."""
        return self._call(lambda at: at.knowledge.get(at.owner, source_id))

    def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[Source]:
        """A page of the sources, the newest first; see `Knowledge.page`."""
        return self._call(lambda at: at.knowledge.page(at.owner, limit=limit, cursor=cursor))

    def describe(self, source_id: UUID, *, summary: str | None) -> Source:
        """Say what a source is about; see `Knowledge.describe`."""
        return self._call(lambda at: at.knowledge.describe(at.owner, source_id, summary=summary))

    def retry(self, source_id: UUID) -> Source:
        """Take in again what has failed, and come back when it is done; see `Knowledge.retry`."""
        return self._call(partial(_retry, source_id=source_id))

    def remove(self, source_id: UUID) -> None:
        """Delete a source with all that was made of it; see `Knowledge.remove`."""
        self._call(lambda at: at.knowledge.remove(at.owner, source_id))

    def model(self) -> ModelStatus:
        """Which model finds documents by meaning, and how far a switch is; see `Knowledge.model`."""
        return self._call(lambda at: at.knowledge.model(at.owner))

    def switch_model(self, model: str, *, force: bool = False) -> ModelStatus:
        """Switch to another model, and come back when all that can be done is; see `Knowledge.switch_model`."""
        return self._call(partial(_switch, model=model, force=force))

    def cancel_switch(self) -> ModelStatus:
        """Leave the serving model as it is; see `Knowledge.cancel_switch`."""
        return self._call(lambda at: at.knowledge.cancel_switch(at.owner))


async def _retry(at: app.Memoranda, *, source_id: UUID) -> Source:
    await at.knowledge.retry(at.owner, source_id)
    return await _ended(at, source_id)


async def _switch(at: app.Memoranda, *, model: str, force: bool) -> ModelStatus:
    await at.knowledge.switch_model(at.owner, model, force=force)
    kind = at.knowledge.embedding.kind
    await at.worker.drain(at.owner.organization_id, kind=kind, idle=IDLE)
    return await at.knowledge.model(at.owner)
