"""The SQL of proposals: the inbox, what is in it already, and what tidy-up compares."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, insert, or_, select, update

from memoranda.memories.about import read_refs
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate, Mark
from memoranda.memories.chain import restorable_until
from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN
from memoranda.memories.models import MergedMemory, Proposal, ProposalKind, ProposalStatus
from memoranda.memories.proposals.tidy import Held, Merge
from memoranda.memories.views.store import AT_HEAD, NEWEST, SAYING, UNEXPIRED, m, r
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import memory_proposals
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id

p = memory_proposals.c
FIELDS: Final = tuple(
    name for name in Proposal.model_fields if name not in {"restorable_until", "replaces"}
)
SHOWN: Final = tuple(p[name] for name in FIELDS)

# What a key that is bound to a user, or to a user and an agent, may know.
FOR_USER: Final = and_(p.space.is_(None), or_(p.user_id.is_(None), p.user_id == bindparam("user")))
OF_AGENT: Final = and_(
    p.author_agent_id == bindparam("agent"),
    or_(p.agent_id.is_(None), p.agent_id == bindparam("agent")),
)
STILL_KEPT: Final = or_(p.status != ProposalStatus.DISCARDED, p.decided_at > bindparam("since"))
# What expired can be neither accepted nor restored: of these two lists it is no part.
OPEN: Final = or_(
    p.status == ProposalStatus.ACCEPTED, p.expires_at.is_(None), p.expires_at > bindparam("now")
)


def _page(*criteria: ColumnElement[bool]) -> Select[Any]:
    wanted = (p.status == bindparam("in_status"), STILL_KEPT, OPEN, p.id < bindparam("before"))
    page = select(*SHOWN).where(*wanted, *criteria)
    return page.order_by(p.id.desc()).limit(bindparam("most"))


def _waiting(*criteria: ColumnElement[bool]) -> Select[Any]:
    same = (p.audience == bindparam("spelled"), p.folded_digest == bindparam("digest"))
    waits = (p.status == ProposalStatus.WAITING, p.kind == ProposalKind.MEMORY)
    return select(*SHOWN).where(*waits, *same, *criteria)


# What a person discarded, and not what lapsed by itself.
DISCARDED_TEXT: Final = (
    select(*SHOWN)
    .where(
        p.status == ProposalStatus.DISCARDED,
        p.kind == ProposalKind.MEMORY,
        p.author_agent_id == bindparam("agent"),
        p.audience == bindparam("spelled"),
        p.folded_digest == bindparam("digest"),
        p.decided_at > bindparam("since"),
        or_(p.expires_at.is_(None), p.expires_at > p.decided_at),
    )
    .order_by(p.id.desc())
)
PROPOSAL: Final = select(*SHOWN).where(p.id == bindparam("proposal"))
# Whoever decides holds the row: the next one waits, and then sees that it is decided.
HELD: Final = PROPOSAL.with_for_update()
EVERYTHING: Final = _page()
OF_USER: Final = _page(FOR_USER)
BY_AGENT: Final = _page(FOR_USER, OF_AGENT)
WAITING_TEXT: Final = _waiting(p.subject_key.is_(None))
WAITING_UNDER_KEY: Final = _waiting(p.subject_key == bindparam("key"))
MERGES: Final = (
    select(*SHOWN)
    .where(p.status == bindparam("in_status"), p.kind == ProposalKind.MERGE, STILL_KEPT)
    .order_by(p.id)
)
# In the order of ids, as everybody takes several.
EXPIRED: Final = (
    select(p.id)
    .where(p.status == ProposalStatus.WAITING, p.expires_at <= bindparam("now"))
    .order_by(p.id)
    .with_for_update()
)
INSERT: Final = insert(memory_proposals)
# What was accepted says it in its chain: nothing of it stays here, nor anything that stands for it.
ACCEPT: Final = (
    update(memory_proposals)
    .where(p.id == bindparam("proposal"))
    .values(
        status=ProposalStatus.ACCEPTED,
        text=None,
        title=None,
        category=None,
        tags=[],
        folded_digest=None,
        memory_id=bindparam("became"),
        decided_by=bindparam("by"),
        decided_at=bindparam("now"),
    )
)
DISCARD: Final = (
    update(memory_proposals)
    .where(p.id == bindparam("proposal"))
    .values(
        status=ProposalStatus.DISCARDED,
        decided_by=bindparam("by"),
        decided_at=bindparam("now"),
    )
)
LAPSE: Final = (
    update(memory_proposals)
    .where(one_of(p.id, "ids"))
    .values(status=ProposalStatus.DISCARDED, decided_by=None, decided_at=bindparam("now"))
)
LIVE: Final = (SAYING, m.space.is_(None), UNEXPIRED)
COMPARED: Final = (
    select(
        *(m.id, m.version, r.text, r.title, r.category, r.tags, m.expires_at, m.pinned),
        *(m.subject_key, m.uses, m.head_id, m.user_id, m.agent_id, m.subject_refs),
    )
    .select_from(AT_HEAD)
    .where(*LIVE)
    .order_by(m.id.desc())
    .limit(bindparam("most"))
)
COMPARED_OF_USER: Final = COMPARED.where(m.user_id == bindparam("user"))
VERSIONS: Final = select(m.id, m.version).where(*LIVE, one_of(m.id, "ids"))


def find(tx: Transaction, proposal_id: UUID) -> Row | None:
    """The proposal's row, if there is one."""
    return tx.one(PROPOSAL, proposal=proposal_id)


def hold(tx: Transaction, proposal_id: UUID) -> Row | None:
    """The same, which until the commit nobody else decides."""
    return tx.one(HELD, proposal=proposal_id)


def page(
    tx: Transaction,
    status: ProposalStatus,
    before: UUID | None,
    most: int,
    *,
    everything: bool,
    user_id: UUID | None,
    agent_id: UUID | None,
) -> list[Proposal]:
    """Proposals of one status, the newest first: all, a user's and everybody's, or an agent's own among these.

    What has expired neither waits nor can be restored, and is left out.
    """
    bound = OF_USER if agent_id is None else BY_AGENT
    rows = tx.all(
        EVERYTHING if everything else bound,
        in_status=status,
        since=tx.now - KEPT_WHEN_FORGOTTEN,
        now=tx.now,
        before=before or NEWEST,
        most=most,
        user=user_id,
        agent=agent_id,
    )
    return [shown(row) for row in rows]


def waiting_twin(tx: Transaction, candidate: Candidate, mark: Mark) -> Row | None:
    """The waiting proposal of the same text, for the same audience and under the same key."""
    same = {"spelled": candidate.audience.spelled, "digest": mark.digest}
    if candidate.subject_key is None:
        return tx.one(WAITING_TEXT, **same)
    return tx.one(WAITING_UNDER_KEY, **same, key=candidate.subject_key)


def discarded_twin(
    tx: Transaction, candidate: Candidate, mark: Mark, since: datetime
) -> Row | None:
    """What the same agent proposed in the same words and a person has discarded since then."""
    same = {"spelled": candidate.audience.spelled, "digest": mark.digest}
    agent = candidate.author.agent_id
    rows = tx.all(DISCARDED_TEXT, **same, agent=agent, since=since)
    return next((row for row in rows if row.subject_key == candidate.subject_key), None)


def merges(tx: Transaction, status: ProposalStatus) -> list[Row]:
    """The merges that wait, or that were discarded within 30 days."""
    return tx.all(MERGES, in_status=status, since=tx.now - KEPT_WHEN_FORGOTTEN)


def add(tx: Transaction, candidate: Candidate, mark: Mark, merge: Merge | None = None) -> Proposal:
    """Let a proposal wait; of a merge, `candidate` says what its survivor would."""
    proposal_id = new_id()
    joined = [merge.survivor, *merge.others] if merge else []
    values: dict[str, Any] = {
        "id": proposal_id,
        **candidate.audience._asdict(),
        "audience": candidate.audience.spelled,
        "subject_key": candidate.subject_key,
        "kind": ProposalKind.MERGE if merge else ProposalKind.MEMORY,
        "status": ProposalStatus.WAITING,
        **{name: getattr(candidate, name) for name in ("text", "title", "category", "tags")},
        "expires_at": candidate.expires_at,
        "folded_digest": mark.digest,
        # The survivor too: what it says may have changed until somebody decides.
        "subject_refs": list(candidate.subject_refs),
        "merges": [{"id": str(each.id), "version": each.version} for each in joined],
        "memory_id": merge.survivor.id if merge else None,
        **_written_by(candidate.author),
        "created_at": tx.now,
    }
    tx.send(INSERT, **values)
    added = find(tx, proposal_id)
    if added is None:
        raise AssertionError("a proposal that was added is there")
    return shown(added)


def accept(tx: Transaction, proposal_id: UUID, by: UUID | None, memory_id: UUID) -> None:
    """Note that the proposal became this memory, which alone says it from now on."""
    tx.send(ACCEPT, proposal=proposal_id, by=by, now=tx.now, became=memory_id)


def discard(tx: Transaction, proposal_id: UUID, by: UUID | None) -> None:
    """Note that the proposal was discarded; it keeps what it says."""
    tx.send(DISCARD, proposal=proposal_id, by=by, now=tx.now)


def lapse(tx: Transaction) -> int:
    """Discard what waits and has expired, which nobody can accept any more; how many."""
    ids = [row.id for row in tx.all(EXPIRED, now=tx.now)]
    tx.send(LAPSE, ids=ids, now=tx.now)
    return len(ids)


def compared(tx: Transaction, user_id: UUID | None, most: int) -> dict[Audience, list[Held]]:
    """The newest live memories by their audiences: everybody's, or those of one user alone."""
    statement = COMPARED if user_id is None else COMPARED_OF_USER
    found: dict[Audience, list[Held]] = {}
    for row in tx.all(statement, now=tx.now, most=most, user=user_id):
        if row.subject_refs:
            continue  # of a merge nobody could say which row it is about
        found.setdefault(Audience(row.user_id, row.agent_id), []).append(_held(row))
    return found


def versions(tx: Transaction, memory_ids: Sequence[UUID]) -> dict[UUID, int]:
    """At which versions these memories are; one that says nothing any more is left out."""
    return {row.id: row.version for row in tx.all(VERSIONS, ids=memory_ids, now=tx.now)}


def unknown_proposal(proposal_id: UUID) -> NotFound:
    """The refusal of a proposal that is not there, or not for this caller."""
    return NotFound(
        f"There is no proposal {proposal_id}. A list of proposals shows the ids that there are.",
        proposal_id=str(proposal_id),
    )


def audience_of(row: Row) -> Audience:
    """For whom the memory would be."""
    return Audience(row.user_id, row.agent_id, row.space)


def author_of(row: Row) -> Author:
    """Who wrote it, and in the course of what."""
    return Author(
        row.origin, row.author_user_id, row.author_agent_id, row.run_id, row.conversation_id
    )


def candidate_of(row: Row) -> Candidate:
    """What the proposal says, as a memory would say it."""
    return Candidate(
        audience=audience_of(row),
        subject_key=row.subject_key,
        text=row.text,
        title=row.title,
        category=row.category,
        tags=tuple(row.tags),
        expires_at=row.expires_at,
        author=author_of(row),
        subject_refs=row.subject_refs,
    )


def members_of(row: Row) -> list[MergedMemory]:
    """The memories that a merge joins, the survivor first, at the versions that it was made from."""
    return [MergedMemory.model_validate(each) for each in row.merges]


def versions_of(row: Row) -> dict[UUID, int]:
    """The same, as `versions` answers it while nothing has changed."""
    return {each.id: each.version for each in members_of(row)}


def shown(row: Row) -> Proposal:
    """The proposal as people see it."""
    others = [each for each in members_of(row) if each.id != row.memory_id]
    return Proposal.model_validate(
        dict(zip(FIELDS, row, strict=False))
        | {"merges": tuple(others), "restorable_until": kept_until(row)}
        | {"subject_refs": read_refs(row.subject_refs)}
    )


def kept_until(row: Row) -> datetime | None:
    """Until when a discarded proposal may be restored."""
    if row.status != ProposalStatus.DISCARDED:
        return None
    return restorable_until(row.decided_at, row.expires_at)


def _written_by(author: Author) -> dict[str, object]:
    return {
        "origin": author.origin,
        "author_user_id": author.user_id,
        "author_agent_id": author.agent_id,
        "run_id": author.run_id,
        "conversation_id": author.conversation_id,
    }


def _held(row: Row) -> Held:
    return Held(
        id=row.id,
        version=row.version,
        text_id=row.head_id,
        text=row.text,
        title=row.title,
        category=row.category,
        tags=tuple(row.tags),
        expires_at=row.expires_at,
        pinned=row.pinned,
        subject_key=row.subject_key,
        uses=row.uses,
    )
