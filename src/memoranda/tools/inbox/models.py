"""One thing that waits for a person, and the ways in which it can be decided. Pure."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.files.models import FileProposal
from memoranda.memories.models import Proposal
from memoranda.tools.models import Answer, Approval


class WaitingKind(StrEnum):
    """What sort of thing waits."""

    MEMORY_PROPOSAL = "memory_proposal"
    TOOL_APPROVAL = "tool_approval"
    FILE_PROPOSAL = "file_proposal"


class Way(Answer):
    """One way to decide: the word for it, the command that does it, and the route."""

    decision: str
    command: str
    route: str


class Look(Answer):
    """How to see all of it: the command, and the route."""

    command: str
    route: str


class Waiting(Answer):
    """What waits, in the field of its kind; `ways` are empty for who may not decide it.

    `look` shows what is too long for a list: of a file, what would be taken out and put in.

    `user_id` and `agent_id` are whom a memory would be for, and otherwise who asked.
    """

    id: UUID
    kind: WaitingKind
    user_id: UUID | None
    agent_id: UUID | None
    created_at: datetime
    proposal: Proposal | None = None
    approval: Approval | None = None
    change: FileProposal | None = None
    look: Look | None = None
    ways: list[Way]


_K = WaitingKind
DECISIONS: Final[Mapping[WaitingKind, tuple[str, ...]]] = {
    _K.MEMORY_PROPOSAL: ("accept", "discard"),
    _K.TOOL_APPROVAL: ("approve", "deny"),
    _K.FILE_PROPOSAL: ("apply", "discard"),
}
_COMMANDS: Final = {
    _K.MEMORY_PROPOSAL: "memoranda proposals",
    _K.TOOL_APPROVAL: "memoranda tools",
    _K.FILE_PROPOSAL: "memoranda files",
}
_ROUTES: Final = {
    _K.MEMORY_PROPOSAL: "/v1/memories/proposals",
    _K.TOOL_APPROVAL: "/v1/tools/approvals",
    _K.FILE_PROPOSAL: "/v1/file-proposals",
}


def ways_of(who: Principal, kind: WaitingKind, id_: UUID) -> list[Way]:
    """How `who` may decide it: an owner all, a member no file, nobody else anything."""
    decides = {Role.OWNER} if kind is _K.FILE_PROPOSAL else {Role.OWNER, Role.MEMBER}
    if who.role not in decides:
        return []
    return [
        Way(
            decision=decision,
            command=f"{_COMMANDS[kind]} {decision} {id_}",
            route=f"POST {_ROUTES[kind]}/{id_}/{decision}",
        )
        for decision in DECISIONS[kind]
    ]


def of_proposal(who: Principal, proposal: Proposal) -> Waiting:
    """A proposed memory, or a merge of some."""
    return Waiting(
        id=proposal.id,
        kind=_K.MEMORY_PROPOSAL,
        user_id=proposal.user_id,
        agent_id=proposal.agent_id,
        created_at=proposal.created_at,
        proposal=proposal,
        ways=ways_of(who, _K.MEMORY_PROPOSAL, proposal.id),
    )


def of_approval(who: Principal, approval: Approval) -> Waiting:
    """An agent's call of a tool."""
    return Waiting(
        id=approval.id,
        kind=_K.TOOL_APPROVAL,
        user_id=approval.user_id,
        agent_id=approval.agent_id,
        created_at=approval.created_at,
        approval=approval,
        ways=ways_of(who, _K.TOOL_APPROVAL, approval.id),
    )


def of_change(who: Principal, change: FileProposal) -> Waiting:
    """A proposed change of a file."""
    return Waiting(
        id=change.id,
        kind=_K.FILE_PROPOSAL,
        user_id=change.author.user_id,
        agent_id=change.author.agent_id,
        created_at=change.created_at,
        change=change,
        look=Look(
            command=f"memoranda files proposal {change.id}",
            route=f"GET {_ROUTES[_K.FILE_PROPOSAL]}/{change.id}",
        ),
        ways=ways_of(who, _K.FILE_PROPOSAL, change.id),
    )
