"""What becomes of a proposed change, within the transaction that does it."""

from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, require
from memoranda.files import store as files
from memoranda.files.body import Body, body_input
from memoranda.files.diff import diff_of
from memoranda.files.models import (
    Action,
    Author,
    AuthorKind,
    ContextFile,
    FileProposal,
    FileProposalStatus,
    Place,
    ProposedChange,
)
from memoranda.files.permitted import author_of
from memoranda.files.proposals import store
from memoranda.files.revisions import store as revisions
from memoranda.files.store import Kept
from memoranda.files.writing import check_hash, put
from memoranda.runs.events.store import record_event
from memoranda.runs.store import record_activity
from memoranda.storage import Transaction
from memoranda.words.errors import Conflict, Invalid

EVENT: Final = "file_proposal.updated"


class Proposed(NamedTuple):
    """A change that waits, and whether it did already."""

    change: ProposedChange
    known: bool


def propose(
    tx: Transaction,
    who: Principal,
    place: Place,
    body: Body,
    expected_hash: str,
    *,
    run_id: UUID | None = None,
    conversation_id: UUID | None = None,
) -> Proposed:
    """Let a change wait for a person. The same change by the same author waits once.

    Raises `FileChanged` where the file has another hash than the one that was read, `Invalid`
    where nothing would change, and `FileProposalsFull`.
    """
    require(who, Permission.PROPOSE_FILES)
    file = files.hold(tx, place)
    check_hash(file, expected_hash)
    if body.hash == file.hash:
        raise Invalid(f"{file.name} says this already: there is nothing to propose.", field="body")
    change = store.Change(
        file_id=file.id,
        base_revision=file.revision,
        base_hash=file.hash,
        body=body.text,
        bytes=body.bytes,
        author=author_of(who),
        run_id=run_id,
        conversation_id=conversation_id,
    )
    known = store.same(tx, change)
    proposal_id = known or store.add(tx, change)
    made = _seen(tx, who, proposal_id)
    if known is None:
        _tell(tx, who, made, "file_change_proposed", "proposed")
    return Proposed(_whole(tx, made), known is not None)


def get(tx: Transaction, who: Principal, proposal_id: UUID) -> ProposedChange:
    """A proposed change that `who` may know of. Raises `NotFound`."""
    return _whole(tx, _seen(tx, who, proposal_id))


def apply(
    tx: Transaction, who: Principal, proposal_id: UUID, expected_hash: str | None
) -> ContextFile:
    """Write what was proposed, over what its author had read or over the text with the hash that is given.

    Raises `NotFound`, `Conflict` where it is decided already, and `FileChanged` with what the
    file says now: the change waits on.
    """
    proposal = _waiting(tx, who, proposal_id)
    file_id, body = store.text(tx, proposal_id)
    file = files.hold_by_id(tx, file_id)
    check_hash(file, expected_hash or proposal.base_hash)
    written = put(
        tx,
        who,
        file,
        body_input(body or ""),
        author=Author(kind=AuthorKind.USER, user_id=who.user_id, agent_id=proposal.author.agent_id),
        action=Action.APPLIED,
        proposal_id=proposal_id,
    )
    applied = FileProposalStatus.APPLIED
    store.decide(tx, proposal_id, applied, who.user_id, revision=written.revision)
    _tell(tx, who, _seen(tx, who, proposal_id), "file_change_applied", applied.value)
    return written


def discard(tx: Transaction, who: Principal, proposal_id: UUID) -> FileProposal:
    """Let it not be done; nothing of what it would have said is kept. Raises as `apply`."""
    _waiting(tx, who, proposal_id)
    discarded = FileProposalStatus.DISCARDED
    store.decide(tx, proposal_id, discarded, who.user_id, revision=None)
    proposal = _seen(tx, who, proposal_id)
    _tell(tx, who, proposal, "file_change_discarded", discarded.value)
    return proposal


def _waiting(tx: Transaction, who: Principal, proposal_id: UUID) -> FileProposal:
    """The proposal, held."""
    proposal = _seen(tx, who, proposal_id, hold=True)
    require(who, Permission.WRITE_FILES)
    if proposal.status is not FileProposalStatus.WAITING:
        raise Conflict(
            f"This change is decided already: it is {proposal.status.value}.",
            proposal=str(proposal_id),
            status=proposal.status.value,
        )
    return proposal


def _seen(
    tx: Transaction, who: Principal, proposal_id: UUID, *, hold: bool = False
) -> FileProposal:
    """Owners and readers see all, members and agents what they proposed themselves."""
    proposal = store.find(tx, proposal_id, hold=hold)
    if proposal is None or not _may_see(who, proposal.author):
        raise store.unknown_proposal(proposal_id)
    return proposal


def _may_see(who: Principal, author: Author) -> bool:
    if who.role is Role.AGENT:
        return author.agent_id == who.agent_id
    return who.role is not Role.MEMBER or author.user_id == who.user_id


def _whole(tx: Transaction, proposal: FileProposal) -> ProposedChange:
    file_id, body = store.text(tx, proposal.id)
    file: Kept = files.by_id(tx, file_id)
    return ProposedChange(
        **dict(proposal),
        body=body,
        diff=None if body is None else diff_of(file.name, file.body, body),
        stale_since=revisions.left(tx, file_id, proposal.base_hash) if proposal.stale else None,
        current_hash=file.hash,
    )


def _tell(
    tx: Transaction, who: Principal, proposal: FileProposal, activity: str, action: str
) -> None:
    record_activity(
        tx,
        activity,
        subject_id=proposal.id,
        user_id=who.user_id,
        agent_id=who.agent_id,
        file=proposal.file,
    )
    record_event(
        tx,
        EVENT,
        user_id=proposal.author.user_id,
        agent_id=proposal.author.agent_id,
        proposal_id=str(proposal.id),
        file=proposal.file,
        action=action,
    )
