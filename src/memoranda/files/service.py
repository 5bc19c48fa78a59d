"""The verbs of context files: read, write and restore them, say how they are loaded, look back."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_of, require
from memoranda.files import permitted, store, writing
from memoranda.files.body import Body, body_input, hash_input
from memoranda.files.models import (
    ContextFile,
    ErasedRevision,
    FileList,
    FileRevision,
    FileSummary,
    FilesView,
    LoadMode,
    Named,
    Place,
    RevisionText,
)
from memoranda.files.proposals import store as proposals
from memoranda.files.quoting import Quoting, quoting
from memoranda.files.revisions import reading
from memoranda.files.revisions import store as revisions
from memoranda.files.view import view
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, check_storable, choice_input, time_input
from memoranda.words.subject import ContextSubject

P = ParamSpec("P")
T = TypeVar("T")

MOST_LISTED: Final = 200
LARGEST: Final = 2**31 - 1
PRUNED_AT_ONCE: Final = 500
DECIDED_FOR: Final = timedelta(days=30)
"""How long it can be looked up what became of a proposed change."""


def _nobody(_: UUID) -> None:
    """Listen to nothing."""


@checks_shapes
class Files:
    """What people write for every run to know: six files of an organization, and six of each agent.

    A file is there from when it is first looked at, and is never taken away. `agent` names whose
    file is meant, by id, slug or external id; without it the organization's is. Every
    verb raises `UnknownFile`, `NotFound` for an unknown agent, and `NotYourFile` for an agent
    that names another. `changed` is called with the organization after the commit of each change.
    """

    def __init__(self, storage: Storage, changed: Callable[[UUID], None] = _nobody) -> None:
        self._storage = storage
        self._changed = changed

    async def listed(self, who: Principal, *, agent: UUID | str | None = None) -> FileList:
        """The files without their texts, in their own order, and which are always loaded."""
        items = await self._read(who, agent, _list, who, agent)
        always = [file.name for file in items if file.load_mode is LoadMode.ALWAYS]
        return FileList(items=items, always_loaded=always)

    async def get(
        self, who: Principal, name: str, *, agent: UUID | str | None = None
    ) -> ContextFile:
        """The file as it stands, byte for byte as it was written."""
        return (await self._read(who, agent, _find, who, Named(name, agent))).shown()

    async def write(
        self,
        who: Principal,
        name: str,
        body: str,
        expected_hash: str,
        *,
        agent: UUID | str | None = None,
    ) -> ContextFile:
        """Write a body of at most 65,536 bytes over the one with that hash (SHA-256), which is kept.

        Owners write every file, an agent its own NOTES.md alone. Raises `FileChanged` with what the
        file says now, `FileTooLarge`, `SecretFound`, `Invalid` with the field, and `Refused`.
        """
        _check_named(agent)
        said, expected = body_input(body), hash_input("expected_hash", expected_hash)
        return await self._write(who, _write, who, Named(name, agent), said, expected)

    async def set_load_mode(self, who: Principal, name: str, mode: LoadMode | str) -> ContextFile:
        """Say whether every run is given an organization's file, or reads it on demand. For owners.

        Raises `AlwaysLoadedFull`, which names the three, for a fourth that is always loaded.
        """
        said = choice_input("load_mode", mode, LoadMode)
        return await self._write(who, _set_load_mode, who, Named(name), said)

    async def history(
        self,
        who: Principal,
        name: str,
        *,
        agent: UUID | str | None = None,
        limit: int = 20,
        before: int | None = None,
    ) -> list[FileRevision]:
        """What the file was, the newest and present state first, at most `limit` (1 to 200) below `before`."""
        check_count("limit", limit, most=MOST_LISTED)
        _check_number("before", before)
        return await self._read(who, agent, _history, who, Named(name, agent), before, limit)

    async def revision(
        self, who: Principal, name: str, number: int, *, agent: UUID | str | None = None
    ) -> RevisionText:
        """One state with its text. Raises `NotFound` and `RevisionGone`."""
        _check_number("number", number)
        return await self._read(who, agent, _revision, who, Named(name, agent), number)

    async def as_of(
        self, who: Principal, name: str, time: datetime, *, agent: UUID | str | None = None
    ) -> RevisionText:
        """What the file was at that time, which has a zone.

        Raises `NotFound` for a time before there was the file, and `RevisionGone`.
        """
        moment = time_input("as_of", time) or time
        return await self._read(who, agent, _as_of, who, Named(name, agent), moment)

    async def restore(
        self,
        who: Principal,
        name: str,
        number: int,
        *,
        agent: UUID | str | None = None,
        expected_hash: str | None = None,
    ) -> ContextFile:
        """Write again what revision `number` said, as a new revision. What it says now is kept.

        Raises as `write` does, where a hash is given, and as `revision` does.
        """
        _check_named(agent)
        _check_number("number", number)
        expected = None if expected_hash is None else hash_input("expected_hash", expected_hash)
        return await self._write(who, _restore, who, Named(name, agent), number, expected)

    async def erase_revision(
        self, who: Principal, name: str, number: int, *, agent: UUID | str | None = None
    ) -> ErasedRevision:
        """Take away for good what an earlier revision said; what the file says now is not touched. For owners.

        Its number is not given again, and asked for it the answer is `RevisionGone`. Raises as
        `revision` does, and `Conflict` for the present one.
        """
        _check_named(agent)
        _check_number("number", number)
        organization = organization_of(who)
        place = await self._storage.write(organization, _erase, who, Named(name, agent), number)
        self._changed(organization)
        return ErasedRevision(
            file=place.name,
            agent_id=place.agent_id,
            number=number,
            scrubbed=await self._storage.scrub(),
        )

    async def view(self, subject: ContextSubject) -> FilesView:
        """The files as a run for this subject is given them. It asks for no permission, and writes nothing."""
        return await self._storage.read(subject.organization_id, view, subject.agent_id)

    async def quoting(self, organization_id: UUID, texts: Iterable[str]) -> list[Quoting]:
        """The files that hold one of these texts: now, before, or in a change that waits. It asks for no permission."""
        return await quoting(self._storage, organization_id, texts)

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of what is kept no longer: old revisions, and what was decided long ago; how much."""
        return await self._storage.write(organization_id, _prune)

    async def _read(
        self,
        who: Principal,
        agent: UUID | str | None,
        fn: Callable[Concatenate[Transaction, P], T | None],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Read, where need be after the files were made."""
        organization = organization_of(who)
        _check_named(agent)
        found = await self._storage.read(organization, fn, *args, **kwargs)
        if found is None:
            await self._storage.write(organization, _make, who, agent)
            found = await self._storage.read(organization, fn, *args, **kwargs)
        if found is None:
            raise AssertionError("files that were just made are there")
        return found

    async def _write(
        self,
        who: Principal,
        fn: Callable[Concatenate[Transaction, P], ContextFile],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> ContextFile:
        organization = organization_of(who)
        written = await self._storage.write(organization, fn, *args, **kwargs)
        self._changed(organization)
        return written


def _list(tx: Transaction, who: Principal, agent: UUID | str | None) -> list[FileSummary] | None:
    agent_id = permitted.agent_of(tx, who, agent)
    require(who, Permission.READ_FILES)
    return store.summaries(tx, agent_id)


def _find(tx: Transaction, who: Principal, named: Named) -> store.Kept | None:
    return store.find(tx, permitted.place_of(tx, who, named))


def _make(tx: Transaction, who: Principal, agent: UUID | str | None) -> None:
    store.make(tx, permitted.agent_of(tx, who, agent))


def _write(tx: Transaction, who: Principal, named: Named, body: Body, expected: str) -> ContextFile:
    return writing.write(tx, who, _writable(tx, who, named), body, expected)


def _set_load_mode(tx: Transaction, who: Principal, named: Named, mode: LoadMode) -> ContextFile:
    return writing.set_load_mode(tx, who, _writable(tx, who, named), mode)


def _restore(
    tx: Transaction, who: Principal, named: Named, number: int, expected: str | None
) -> ContextFile:
    return writing.restore(tx, who, _writable(tx, who, named), number, expected)


def _erase(tx: Transaction, who: Principal, named: Named, number: int) -> Place:
    place = permitted.place_of(tx, who, named)
    require(who, Permission.WRITE_FILES)
    writing.erase_revision(tx, who, place, number)
    return place


def _writable(tx: Transaction, who: Principal, named: Named) -> Place:
    place = permitted.place_of(tx, who, named)
    permitted.require_write(who, place)
    return place


def _history(
    tx: Transaction, who: Principal, named: Named, before: int | None, limit: int
) -> list[FileRevision] | None:
    file = _find(tx, who, named)
    return None if file is None else reading.history(tx, file, before, limit)


def _revision(tx: Transaction, who: Principal, named: Named, number: int) -> RevisionText | None:
    file = _find(tx, who, named)
    return None if file is None else reading.revision(tx, file, number)


def _as_of(tx: Transaction, who: Principal, named: Named, moment: datetime) -> RevisionText | None:
    file = _find(tx, who, named)
    return None if file is None else reading.as_of(tx, file, moment)


def _prune(tx: Transaction) -> int:
    before = tx.now - reading.KEPT_FOR
    gone = revisions.prune(tx, before, newest=reading.NEWEST_KEPT, most=PRUNED_AT_ONCE)
    return gone + proposals.prune(tx, tx.now - DECIDED_FOR, PRUNED_AT_ONCE)


def _check_named(agent: UUID | str | None) -> None:
    if agent is not None:
        check_storable("agent", str(agent))


def _check_number(field: str, number: int | None) -> None:
    if number is not None:
        check_count(field, number, most=LARGEST)
