"""The changes of a file, each within the transaction that also keeps what it said before and tells of it."""

from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.files import store
from memoranda.files.body import Body, body_input
from memoranda.files.errors import AlwaysLoadedFull, FileChanged
from memoranda.files.models import MOST_ALWAYS_LOADED, Action, Author, ContextFile, LoadMode, Place
from memoranda.files.permitted import author_of
from memoranda.files.revisions import reading
from memoranda.files.revisions import store as revisions
from memoranda.files.store import Kept
from memoranda.runs.events.store import record_event
from memoranda.runs.store import record_activity
from memoranda.storage import Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.words.errors import Conflict, Invalid

EVENT: Final = "file.updated"


def write(
    tx: Transaction, who: Principal, place: Place, body: Body, expected_hash: str
) -> ContextFile:
    """Write the body over the one with that hash; the same body again is no change.

    Raises `FileChanged`, with what the file says now, where it has another hash.
    """
    file = store.hold(tx, place)
    check_hash(file, expected_hash)
    return put(tx, who, file, body, author=author_of(who), action=Action.WRITTEN)


def restore(
    tx: Transaction, who: Principal, place: Place, number: int, expected_hash: str | None
) -> ContextFile:
    """Write again what an earlier revision said, as a new one. The load mode stays as it is.

    Raises as `write`, where a hash is given, and what `reading.revision` does. A text
    that would be refused today is not restored.
    """
    file = store.hold(tx, place)
    if expected_hash is not None:
        check_hash(file, expected_hash)
    body = body_input(reading.revision(tx, file, number).body)
    return put(
        tx,
        who,
        file,
        body,
        author=author_of(who),
        action=Action.RESTORED,
        restored_from=number,
    )


def erase_revision(tx: Transaction, who: Principal, place: Place, number: int) -> None:
    """Take away what an earlier revision said. Raises what `reading.revision` does, and `Conflict` for the present one."""
    file = store.hold(tx, place)
    if number == file.revision:
        raise Conflict(
            f"Revision {number} is what {file.name} says now: write the file anew first.",
            file=file.name,
            revision=file.revision,
        )
    reading.revision(tx, file, number)
    revisions.erase(tx, file.id, number)
    signal(tx, SCRUB)
    told: dict[str, Any] = {"file": file.name, "revision": number}
    whose = {"user_id": who.user_id, "agent_id": who.agent_id}
    record_activity(tx, "file_revision_erased", subject_id=file.id, **whose, **told)
    record_event(
        tx, EVENT, agent_id=file.agent_id, file_id=str(file.id), action="revision_erased", **told
    )


def set_load_mode(tx: Transaction, who: Principal, place: Place, mode: LoadMode) -> ContextFile:
    """Say how a workspace file is loaded. Raises `AlwaysLoadedFull`, which names the others."""
    if place.agent_id is not None:
        raise Invalid("An agent's files have no load mode.", field="load_mode")
    tx.lock(store.MODES)
    file = store.hold(tx, place)
    if file.load_mode is mode:
        return file.shown()
    if mode is LoadMode.ALWAYS:
        _check_room(store.always_loaded(tx))
    new = _next(tx, file, author_of(who), Action.MODE_CHANGED, load_mode=mode)
    return _change(tx, who, file, new)


def put(
    tx: Transaction,
    who: Principal,
    file: Kept,
    body: Body,
    *,
    author: Author,
    action: Action,
    restored_from: int | None = None,
    proposal_id: UUID | None = None,
) -> ContextFile:
    """Let a file that is held say something else from now on, and keep what it said."""
    if body.hash == file.hash:
        return file.shown()
    said = {"body": body.text, "hash": body.hash, "bytes": body.bytes}
    origin = {"restored_from": restored_from, "proposal_id": proposal_id}
    return _change(tx, who, file, _next(tx, file, author, action, **said, **origin))


def check_hash(file: ContextFile, expected: str) -> None:
    """Raise `FileChanged`, with what the file says now, unless it has the hash that was read."""
    if file.hash != expected:
        raise FileChanged(
            f"{file.name} has changed since it was read, and nothing was written over: compare what it "
            "says now with yours, and write again with its present hash.",
            file=file.name,
            revision=file.revision,
            current_hash=file.hash,
            current_body=file.body,
        )


def _check_room(always: list[str]) -> None:
    if len(always) >= MOST_ALWAYS_LOADED:
        raise AlwaysLoadedFull(
            f"{MOST_ALWAYS_LOADED} files at most are always loaded, and these are already: "
            f"{', '.join(always)}. Set one of them to {LoadMode.ON_DEMAND.value} first.",
            files=always,
            limit=MOST_ALWAYS_LOADED,
        )


def _next(tx: Transaction, file: Kept, author: Author, action: Action, **changes: Any) -> Kept:
    """The file's next state. Its time is never before that of the one before, whatever a clock says."""
    came_of = {"restored_from": None, "proposal_id": None, **changes}
    return file.model_copy(
        update={
            **came_of,
            "revision": file.revision + 1,
            "author": author,
            "action": action,
            "written_at": max(tx.now, file.written_at),
        }
    )


def _change(tx: Transaction, who: Principal, file: Kept, new: Kept) -> ContextFile:
    revisions.keep(tx, file, new.written_at)
    store.change(tx, file, new)
    told: dict[str, Any] = {"file": new.name, "revision": new.revision, "bytes": new.bytes}
    origin = {"proposal_id": str(new.proposal_id)} if new.proposal_id else {}
    record_activity(
        tx,
        _activity(new),
        subject_id=new.id,
        user_id=who.user_id,
        agent_id=who.agent_id,
        **told,
        **origin,
    )
    record_event(tx, EVENT, agent_id=new.agent_id, file_id=str(new.id), action=new.action, **told)
    return new.shown()


def _activity(file: Kept) -> str:
    if file.action is Action.MODE_CHANGED:
        return "context_file_mode_changed"
    if file.action is Action.RESTORED:
        return "context_file_restored"
    return "context_file_updated" if file.agent_id is None else "agent_file_edited"
