"""The verbs of knowledge: add a document, follow it, search what is ready."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import PurePath
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, require
from memoranda.knowledge import store
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.embedding import switching
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.errors import DocumentTooLarge
from memoranda.knowledge.extract import BOUNDS, kind_of, misfit
from memoranda.knowledge.finding import Finding
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.ingest import LEASE, finish_removal, give_up, ingest
from memoranda.knowledge.models import (
    Claim,
    Document,
    ModelStatus,
    SearchAnswer,
    SearchResult,
    Source,
    SourceKind,
)
from memoranda.knowledge.readiness import store as readiness
from memoranda.knowledge.steps import store as steps
from memoranda.search.vectors.asking import PATIENCE_S
from memoranda.storage import PLATFORM, Scope, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Conflict, NotFound, OverLimit
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, optional_text_input, text_input
from memoranda.words.page import Page, cut_page
from memoranda.words.subject import ContextSubject

LONGEST_WAIT: Final = timedelta(hours=1)
"""How long a document may be `pending`; then it has failed, until somebody tries it again."""
_OVERDUE: Final = (
    "The document waited for more than an hour and was not taken in. "
    "See that a worker runs (`memoranda serve` or `memoranda worker`), then try again."
)
_UNEMBEDDED: Final = (
    "The document waited for more than an hour for its embedder. {} Then try the document again."
)
MOST_LISTED: Final = 500
_LISTING: Final = "sources"
MOST_RESULTS: Final = 100
LONGEST_NAME: Final = 1_000
LONGEST_KEY: Final = 2_000
"""Bytes of UTF-8 that a URI or object key may have: an index entry of PostgreSQL holds little more."""
MOST_SOURCES: Final = 1_000
RUN_PATIENCE_S: Final = 0.6
"""How long a run waits for the embedder: its sources have about a second, and words alone are better than none."""


@checks_shapes
class Knowledge:
    """Documents that runs may be told about, of one organization or of the platform.

    `max_bytes` and `bounds` bound a document. Ranking sees the rows of one scope alone: nothing
    that another organization stores moves a result, its score or its place. Without an `embedding`,
    documents are found by their words alone.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        max_bytes: int,
        bounds: Bounds = BOUNDS,
        embedding: DocumentEmbedding | None = None,
        timeout_s: float = PATIENCE_S,
    ) -> None:
        self._storage = storage
        self._max_bytes = max_bytes
        self._bounds = bounds
        self.embedding = embedding or DocumentEmbedding(storage, None)
        self._finding = Finding(storage, self.embedding, timeout_s=timeout_s)

    async def add(
        self,
        who: Principal,
        content: bytes,
        *,
        title: str,
        kind: SourceKind | None = None,
        filename: str | None = None,
        uri: str | None = None,
        object_key: str | None = None,
        summary: str | None = None,
        platform: bool = False,
    ) -> Source:
        """Put a document in line; a worker makes it `ready` or `failed`.

        Without a `kind`, bytes that are a PDF or DOCX are one, and else the ending tells: that
        of `filename`, or else of the `uri` or title. The same `object_key` or
        `uri` names the same source: new bytes replace the old. `summary` says in at most
        1,000 characters what it is about; without one, what was said before stays. Raises `Invalid`, `Refused`,
        `DocumentTooLarge`, `Conflict` for the `uri` of a source with another `object_key`, and an
        `UnreadableDocument` for bytes that are not of their kind where a ready document would
        give way to them, before anything is stored.
        """
        scope = self._scope_to_write(who, platform=platform)
        if len(content) > self._max_bytes:
            raise DocumentTooLarge(
                f"The document is larger than {self._max_bytes} bytes. Split it, then add the parts.",
                size=len(content),
                limit=self._max_bytes,
            )
        name = text_input("title", title, limit=LONGEST_NAME)
        is_kind = kind or kind_of(filename or PurePath(uri or title).name, content)
        document = Document(
            content=content,
            digest=hashlib.sha256(content).hexdigest(),
            kind=is_kind,
            misfit=misfit(content, is_kind),
            title=name,
            uri=_key_input("uri", uri),
            object_key=_key_input("object_key", object_key),
            summary=optional_text_input("summary", summary, limit=LONGEST_NAME),
        )
        return await self._storage.write(scope, store.add, document)

    async def get(self, who: Principal, source_id: UUID) -> Source:
        """A source of the caller's organization, or of the platform. Raises `NotFound`."""
        for scope in self._scopes_to_read(who):
            source = await self._storage.read(scope, store.get, source_id)
            if source is not None:
                return source
        raise _unknown(source_id)

    async def page(
        self, who: Principal, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Source]:
        """The caller's own sources, the newest first, at most `limit` (1 to 500).

        Raises `Invalid` for a cursor that is not this list's.
        """
        scope = self._scopes_to_read(who)[0]
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        found = await self._storage.read(scope, store.page, before, limit + 1)
        return cut_page(_LISTING, found, limit)

    async def describe(self, who: Principal, source_id: UUID, *, summary: str | None) -> Source:
        """Say what a source is about, in at most 1,000 characters; None takes that back. Raises `NotFound`."""
        source = await self.get(who, source_id)
        scope = self._scope_to_write(who, platform=source.organization_id is None)
        said = optional_text_input("summary", summary, limit=LONGEST_NAME)
        await self._storage.write(scope, store.describe, source_id, said)
        return await self.get(who, source_id)

    async def newest(self, subject: ContextSubject, limit: int) -> tuple[list[Source], int]:
        """The newest ready sources of the subject's organization, and how many are ready in all."""
        return await self._storage.read(subject.organization_id, store.newest, limit)

    async def retry(self, who: Principal, source_id: UUID) -> Source:
        """Put a failed source in line again. Raises `NotFound`, or `Conflict` where it has not failed."""
        source = await self.get(who, source_id)
        scope = self._scope_to_write(who, platform=source.organization_id is None)
        if not await self._storage.write(scope, store.repeat, source_id):
            raise Conflict(
                f"The source is {source.status}: only a failed one can be tried again.",
                status=source.status,
            )
        return await self.get(who, source_id)

    async def remove(self, who: Principal, source_id: UUID) -> None:
        """Delete a source with all that was made of it. Raises `NotFound`.

        Nobody finds it from the first step on; where this is cut short, a worker ends it.
        """
        source = await self.get(who, source_id)
        scope = self._scope_to_write(who, platform=source.organization_id is None)
        if not await self._storage.write(scope, steps.begin_removal, source_id):
            await finish_removal(self._storage, scope, source_id)

    async def model(self, who: Principal, *, platform: bool = False) -> ModelStatus:
        """Which model's vectors answer searches of the caller's documents, and how far a switch is."""
        return await switching.model_status(
            self._storage, self._scope_of_model(who, platform=platform), self.embedding
        )

    async def switch_model(
        self, who: Principal, model: str, *, platform: bool = False, force: bool = False
    ) -> ModelStatus:
        """Begin to switch to a model's vectors, or go on; "none" is words alone, at once.

        A worker makes the new vectors beside the old, which serve until every searchable document
        has its new ones; then one change of one row lets the new ones serve, and the old are cleared.
        A document that fails under the new model keeps it from serving, unless `force` says that
        words will do for it. The same call again lets failed documents be tried again. Raises
        `UnknownModel` and `Refused`.
        """
        scope = self._scope_to_write(who, platform=platform)
        return await switching.switch_model(
            self._storage, scope, self.embedding, model, forced=force
        )

    async def cancel_switch(self, who: Principal, *, platform: bool = False) -> ModelStatus:
        """Leave the serving model as it is; what was made of the next one is cleared. Raises `Refused`."""
        scope = self._scope_to_write(who, platform=platform)
        return await switching.cancel_switch(self._storage, scope, self.embedding)

    async def search(
        self,
        who: Principal,
        query: str,
        *,
        limit: int = 8,
        include_organization: bool = True,
        include_platform: bool = False,
        source_ids: Sequence[UUID] | None = None,
    ) -> SearchAnswer:
        """The chunks that answer `query`, best first, at most 100.

        With `source_ids`, those sources are ranked as if they were all there is. A word is
        only a word here: nothing in a query is syntax.
        """
        organization_id = organization_for(who, Permission.READ_KNOWLEDGE)
        check_count("limit", limit, most=MOST_RESULTS)
        if source_ids is not None:
            check_count("source_ids", len(source_ids), most=MOST_SOURCES)
        scopes = _scopes(
            organization_id, organization=include_organization, platform=include_platform
        )
        return await self._finding.search(organization_id, scopes, query, limit, source_ids)

    async def find(
        self,
        subject: ContextSubject,
        query: str,
        *,
        limit: int,
        include_organization: bool,
        include_platform: bool,
    ) -> list[SearchResult]:
        """`search` for a run, which has a subject, no credential, and little time."""
        scopes = _scopes(
            subject.organization_id, organization=include_organization, platform=include_platform
        )
        answer = await self._finding.search(
            subject.organization_id, scopes, query, limit, patience_s=RUN_PATIENCE_S
        )
        return answer.results

    async def close(self) -> None:
        """Let go of queries that are being embedded."""
        await self._finding.close()

    async def waiting(self, scope: Scope) -> bool:
        """Whether a source of the scope waits for a worker, or is with one."""
        return await self._storage.read(scope, claims.waiting)

    async def claim(self, scope: Scope, worker_id: UUID, lease: timedelta = LEASE) -> UUID | None:
        """Take the source that has waited longest; None where nobody waits. Two workers never get one."""
        return await self._storage.take(
            scope,
            partial(claims.claim, worker_id=worker_id, lease=lease),
            give_back=partial(_hand_back, worker_id=worker_id),
        )

    async def ingest(self, scope: Scope, source_id: UUID, worker_id: UUID) -> Source | None:
        """Bring a claimed source to `ready` or `failed`; None where the claim was lost."""
        return await ingest(
            self._storage,
            scope,
            Claim(source_id, worker_id),
            limit=self._max_bytes,
            bounds=self._bounds,
            embedding=self.embedding,
        )

    async def give_up_overdue(self, scope: Scope, worker_id: UUID) -> bool:
        """End a source that waited for over an hour as `failed`; whether there was one.

        One that a worker holds is left to it. An ended one can be tried again.
        """
        overdue = await self._storage.take(
            scope,
            partial(claims.claim_overdue, worker_id=worker_id, lease=LEASE, longest=LONGEST_WAIT),
            give_back=partial(_hand_back, worker_id=worker_id),
        )
        if overdue is None:
            return False
        why = await self._storage.read(scope, readiness.waits_for, overdue)
        reason = _OVERDUE if why is None else _UNEMBEDDED.format(why)
        await give_up(self._storage, scope, Claim(overdue, worker_id), reason)
        return True

    @staticmethod
    def _scope_to_write(who: Principal, *, platform: bool) -> Scope:
        if platform:
            require(who, Permission.MANAGE_PLATFORM)
            return PLATFORM
        return organization_for(who, Permission.WRITE_KNOWLEDGE)

    @staticmethod
    def _scope_of_model(who: Principal, *, platform: bool) -> Scope:
        if platform:
            require(who, Permission.MANAGE_PLATFORM)
            return PLATFORM
        return organization_for(who, Permission.READ_KNOWLEDGE)

    @staticmethod
    def _scopes_to_read(who: Principal) -> list[Scope]:
        if who.organization_id is None:
            require(who, Permission.MANAGE_PLATFORM)
            return [PLATFORM]
        return [organization_for(who, Permission.READ_KNOWLEDGE), PLATFORM]


def _scopes(organization_id: UUID, *, organization: bool, platform: bool) -> list[Scope]:
    own: list[Scope] = [organization_id] if organization else []
    return [*own, PLATFORM] if platform else own


def _key_input(field: str, key: str | None) -> str | None:
    checked = optional_text_input(field, key, limit=LONGEST_NAME)
    if checked is not None and len(checked.encode()) > LONGEST_KEY:
        raise OverLimit(
            f"{field} has more than {LONGEST_KEY} bytes in UTF-8: shorten it.",
            field=field,
            limit=LONGEST_KEY,
        )
    return checked


def _unknown(source_id: UUID) -> NotFound:
    return NotFound(
        f"There is no knowledge source {source_id}. List the sources to see which there are."
    )


def _hand_back(tx: Transaction, source_id: UUID, *, worker_id: UUID) -> None:
    claims.hand_back(tx, Claim(source_id, worker_id))
