"""The verbs of application state: rows that refs name, read for one organization."""

import asyncio
from collections.abc import AsyncIterator, Container, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Self
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.access.store import own_organization
from memoranda.state import store
from memoranda.state.held import HeldHost, is_away
from memoranda.state.models import Resolved, StateField, StateKind
from memoranda.state.projections import HostState, Projection, SourceName
from memoranda.state.spelling import moment, said
from memoranda.state.store import Held
from memoranda.storage import Row, Storage
from memoranda.words.errors import MemorandaError, OverLimit
from memoranda.words.given import checks_shapes
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject

MOST_REFS: Final = 100
"""How many refs one call of `resolve` may name; a brief may name more."""


@checks_shapes
class StateReader:
    """Reads a host's rows through its projections; without a host there are none."""

    def __init__(self, storage: Storage, host: HeldHost | None = None) -> None:
        self._storage = storage
        self._host = host
        self._declared: Mapping[str, Projection] = host.projections if host else {}

    @classmethod
    @asynccontextmanager
    async def open(cls, storage: Storage, state: HostState | None) -> AsyncIterator[Self]:
        """Open the host's database read-only and check that all that is declared of it is there.

        A database that does not answer keeps nothing from opening: what needs it fails until it does.
        Raises `Invalid`, naming the table or column that is not there.
        """
        if state is None:
            yield cls(storage)
            return
        host = HeldHost(state)
        try:
            try:
                await host.look()
            except MemorandaError as error:
                if not is_away(error):
                    raise
            yield cls(storage, host)
        finally:
            await host.close()

    def has(self, source: SourceName) -> bool:
        """Whether there is anything for this source of briefs to show."""
        return any(each.source == source for each in self._declared.values())

    def knows(self, kind: str) -> bool:
        """Whether rows of this kind are declared."""
        return kind in self._declared

    @property
    def declared(self) -> bool:
        """Whether a host's database is declared at all."""
        return self._host is not None

    @property
    def fault(self) -> MemorandaError | None:
        """Why the host's database could not be read when it was last asked; None where it could, or there is none."""
        return None if self._host is None else self._host.fault

    async def look(self) -> bool:
        """Look at the host's database anew, whatever came of it before; whether there is one.

        Raises `StorageUnavailable`, `StorageBusy`, and `Invalid` for what is not there.
        """
        if self._host is None:
            return False
        await self._host.look()
        return True

    async def kinds(self, who: Principal) -> list[StateKind]:
        """The kinds of rows that may be asked for, in the order of their declaration."""
        organization_for(who, Permission.READ_ROWS)
        return [
            StateKind(
                kind=each.kind,
                columns=each.columns,
                source=each.source,
                parents=tuple(each.parents),
            )
            for each in self._declared.values()
        ]

    async def resolve(self, who: Principal, refs: Sequence[ResourceRef]) -> list[Resolved]:
        """The rows that these refs name, of any kind; one that is not there is left out, whatever the reason.

        Raises `OverLimit` beyond 100 refs, and `StorageUnavailable` or `StorageBusy` where the
        host's database does not answer.
        """
        organization = organization_for(who, Permission.READ_ROWS)
        if len(refs) > MOST_REFS:
            raise OverLimit(
                f"refs names {len(refs)} rows and may name {MOST_REFS}: ask in parts.",
                field="refs",
                limit=MOST_REFS,
            )
        return await self._read(organization, refs, self._declared)

    async def read(
        self,
        subject: ContextSubject,
        refs: Sequence[ResourceRef],
        source: SourceName = "application",
    ) -> list[Resolved]:
        """The rows of the source's kinds that the refs name, in the order of the refs, each once.

        A ref keeps the label that it came with, where its row has no title. What is of another
        kind, missing, deleted or another organization's is left out. One query for each kind.
        """
        kinds = {kind for kind, each in self._declared.items() if each.source == source}
        return await self._read(subject.organization_id, refs, kinds)

    async def exists(
        self, subject: ContextSubject, refs: Iterable[ResourceRef]
    ) -> set[ResourceRef]:
        """Those of the refs that name a row of the subject's organization. One query for each kind."""
        asked = _by_kind(refs, self._declared)
        host_id = await self._host_id(subject.organization_id) if asked else None
        if self._host is None or host_id is None:
            return set()
        kinds = await self._host.kinds()
        found: set[ResourceRef] = set()
        for kind, named in asked.items():
            held = kinds[kind]
            tenant = held.tenant(host_id)
            if tenant is not None:
                ids = await self._host.run(store.there, held, tenant, list(named))
                found |= {ref for each, ref in named.items() if each in ids}
        return found

    async def newest(
        self,
        subject: ContextSubject,
        refs: Sequence[ResourceRef],
        source: SourceName,
        *,
        limit: int,
    ) -> list[Resolved]:
        """The newest rows of an outreach source that the refs name or lead to, at most `limit`."""
        host_id = await self._host_id(subject.organization_id) if refs and limit else None
        if self._host is None or host_id is None:
            return []
        found: dict[ResourceRef, Resolved] = {}
        for held in (await self._host.kinds()).values():
            tenant = held.tenant(host_id)
            if held.projection.source != source or tenant is None:
                continue
            for kind, named in _by_kind(refs, held.newest).items():
                rows = await self._host.run(
                    store.newest, held, tenant, kind, list(named), most=limit
                )
                for row in rows:
                    if _has_a_name(row[0]):
                        made = _resolved(held, row, None)
                        found.setdefault(made.ref, made)
        timed = [each for each in found.values() if each.at is not None]
        timed.sort(key=lambda each: (each.at, each.ref.kind, each.ref.id), reverse=True)
        return timed[:limit]

    async def _read(
        self, organization: UUID, refs: Sequence[ResourceRef], kinds: Container[str]
    ) -> list[Resolved]:
        asked = _by_kind(refs, kinds)
        host_id = await self._host_id(organization) if asked else None
        if self._host is None or host_id is None:
            return []
        held = await self._host.kinds()
        reads = (self._of_kind(held[kind], host_id, named) for kind, named in asked.items())
        found = {each.ref: each for some in await asyncio.gather(*reads) for each in some}
        return [found[ref] for ref in dict.fromkeys(refs) if ref in found]

    async def _of_kind(
        self, held: Held, host_id: str, named: Mapping[str, ResourceRef]
    ) -> list[Resolved]:
        tenant = held.tenant(host_id)
        if self._host is None or tenant is None:
            return []
        rows = await self._host.run(store.rows, held, tenant, list(named))
        return [
            _resolved(held, row, named[row_id]) for row in rows if (row_id := str(row[0])) in named
        ]

    async def _host_id(self, organization: UUID) -> str | None:
        """What the host calls the organization; None where it has no name for it, and so no rows."""
        if self._host is None:
            return None
        own = await self._storage.read(organization, own_organization)
        if own.external_id is None and own.is_default:
            return self._host.default_tenant
        return own.external_id


def _by_kind(
    refs: Iterable[ResourceRef], kinds: Container[str]
) -> dict[str, dict[str, ResourceRef]]:
    """The refs of these kinds, by kind and id; of two that name one row the first."""
    asked: dict[str, dict[str, ResourceRef]] = {}
    for ref in refs:
        if ref.kind in kinds:
            asked.setdefault(ref.kind, {}).setdefault(ref.id, ref)
    return asked


def _resolved(held: Held, row: Row, asked: ResourceRef | None) -> Resolved:
    projection = held.projection
    values = row._asdict()
    title = said(values.get(store.ROW_TITLE))
    label = title or (asked.label if asked else None)
    fields = ((name, said(values[name], held.kinds[name])) for name in projection.columns)
    return Resolved(
        ref=ResourceRef(kind=projection.kind, id=str(row[0]), label=_whole(label)),
        fields=tuple(
            StateField(column=name, value=value) for name, value in fields if value is not None
        ),
        title=title,
        at=moment(values.get(store.ROW_TIME)),
    )


def _has_a_name(row_id: object) -> bool:
    """Whether a ref can name a row of this id: not where the column has none, or no characters."""
    if row_id is None or isinstance(row_id, bytes):
        return False
    spelled = str(row_id)
    return bool(spelled.strip()) and "\0" not in spelled


def _whole(label: str | None) -> str | None:
    return None if label is None else label.encode(errors="replace").decode()
