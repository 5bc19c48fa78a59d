"""What a caller may do to memories, decided within the transaction that does it."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.store import check_subject
from memoranda.memories import capture, store
from memoranda.memories.audience import Audience, may_change, may_know
from memoranda.memories.candidate import UNSET, Author, Candidate, Edit, Unset
from memoranda.memories.errors import NotRestorable, unknown_memory
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory, Revision
from memoranda.memories.views import store as views
from memoranda.memories.ways import Ways
from memoranda.storage import Transaction
from memoranda.words.errors import Conflict, Refused


def remember(tx: Transaction, who: Principal, candidate: Candidate, ways: Ways) -> Memory:
    """Remember, and tell the log of the run in whose course it was."""
    memory = store.remember(tx, candidate, ways)
    stored = {"memory_id": str(memory.id), "version": memory.version}
    capture.note(tx, who, candidate.author.run_id, capture.STORED, **stored)
    return memory


def update(
    tx: Transaction,
    who: Principal,
    memory_id: UUID,
    edit: Edit,
    *,
    author: Author,
    ways: Ways,
    expected_version: int | None,
    pinned: bool | None,
    user_id: UUID | Unset | None,
    agent_id: UUID | Unset | None,
) -> Memory:
    """Change a memory for the audience that it has, and that it is to have."""
    present = _changeable(tx, who, memory_id)
    if present.space is not None and not (user_id is UNSET and agent_id is UNSET):
        raise _stays(memory_id, present.space)
    to = present._replace(
        user_id=present.user_id if user_id is UNSET else user_id,
        agent_id=present.agent_id if agent_id is UNSET else agent_id,
    )
    if to != present:
        _check_change(who, to)
        check_subject(tx, user_id=to.user_id, agent_id=to.agent_id)
    with _naming_where_it_goes_on(tx, who, memory_id):
        return store.change(
            tx,
            memory_id,
            edit,
            author,
            ways,
            expected_version=expected_version,
            pinned=pinned,
            to=to,
        )


def forget(
    tx: Transaction,
    who: Principal,
    memory_id: UUID,
    *,
    author: Author,
    ways: Ways,
    expected_version: int | None,
) -> Memory:
    """Forget a memory."""
    _changeable(tx, who, memory_id)
    return store.forget(tx, memory_id, author, ways, expected_version=expected_version)


def restore(
    tx: Transaction, who: Principal, memory_id: UUID, *, author: Author, ways: Ways
) -> Memory:
    """Restore a memory; one that is purged is gone for those who could know it, and else was never there."""
    purged = views.purged(tx, memory_id)
    if purged is not None and may_know(who, purged):
        raise NotRestorable(
            f"Memory {memory_id} is purged: nothing of it is left. Remember it anew.",
            memory_id=str(memory_id),
        )
    _changeable(tx, who, memory_id)
    with _naming_where_it_goes_on(tx, who, memory_id):
        return store.restore(tx, memory_id, author, ways)


def history(tx: Transaction, who: Principal, memory_id: UUID) -> list[Revision]:
    """A memory's revisions. Another memory that one of them names is left out where the caller may not know it."""
    _known(tx, who, memory_id)
    found = views.revisions(tx, memory_id)
    linked = [link for each in found for link in (each.continues_id, each.continued_by_id) if link]
    if not linked:
        return found
    named = {
        other for other, audience in views.audiences(tx, linked).items() if may_know(who, audience)
    }
    hidden = {"continues_id": None, "continued_by_id": None}
    return [
        each
        if {each.continues_id, each.continued_by_id} <= {None, *named}
        else each.model_copy(update=hidden)
        for each in found
    ]


def hold(
    tx: Transaction, who: Principal, memory_id: UUID, *, expected_version: int | None = None
) -> int:
    """Hold a live memory that `who` may change; its version.

    Raises `NotFound`, `Refused`, `Conflict` for a forgotten one, and `StaleVersion`.
    """
    _changeable(tx, who, memory_id)
    held, _ = heads.active(tx, memory_id, Author(), expected_version)
    return int(held.version)


def check_title_is_free(tx: Transaction, who: Principal, memory_id: UUID, title: str) -> None:
    """Raise `Conflict` where another memory of the same audience has the title; `NotFound` and `Refused` too."""
    audience = _changeable(tx, who, memory_id)
    heads.check_title_is_free(tx, audience, title, but=memory_id)


def _known(tx: Transaction, who: Principal, memory_id: UUID) -> Audience:
    """For whom a memory is that `who` may know. Raises `NotFound` for any other."""
    audience = store.audience(tx, memory_id)
    if not may_know(who, audience):
        raise unknown_memory(memory_id)
    return audience


def _changeable(tx: Transaction, who: Principal, memory_id: UUID) -> Audience:
    audience = _known(tx, who, memory_id)
    _check_change(who, audience)
    return audience


def _check_change(who: Principal, audience: Audience) -> None:
    if not may_change(who, audience):
        whose = (
            "A member changes memories of its own user"
            if who.role is Role.MEMBER
            else "An agent changes its own memories"
        )
        raise Refused(f"{whose} alone, and this one is for others too. An owner may change it.")


def _stays(memory_id: UUID, space: str) -> Conflict:
    return Conflict(
        f"Memory {memory_id} belongs to the space {space}, and can't be moved out of it. Remember its "
        "text anew for whoever is to know it; forget this one if the space is to know it no more.",
        memory_id=str(memory_id),
        space=space,
    )


@contextmanager
def _naming_where_it_goes_on(tx: Transaction, who: Principal, memory_id: UUID) -> Iterator[None]:
    """Let a refusal of a memory that was moved or merged away name the other one, if the caller may know it."""
    try:
        yield
    except Conflict as refused:
        if type(refused) is Conflict:
            last = views.revisions(tx, memory_id)[-1].continued_by_id
            known = views.audiences(tx, [last]) if last else {}
            if last in known and may_know(who, known[last]):
                refused.details["continued_by_id"] = str(last)
        raise
