"""Proposed memories, which wait for a person."""

from collections.abc import Sequence
from datetime import datetime

from memoranda.client.answers import Listing
from memoranda.client.call import Call, Id, given
from memoranda.memories.models import Memory, Proposal, ProposalStatus, Proposed
from memoranda.words.page import Page
from memoranda.words.ref import ResourceRef


def propose(
    text: str,
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    title: str | None = None,
    category: str | None = None,
    tags: Sequence[str] = (),
    expires_at: datetime | None = None,
    attribute: str | None = None,
    about: ResourceRef | None = None,
    run_id: Id | None = None,
    conversation_id: Id | None = None,
) -> Call[Proposed]:
    """Propose to remember a text: it waits until a person accepts it."""
    return Call(
        "POST",
        "/v1/memories/proposals",
        Proposed,
        body=given(
            text=text,
            user_id=user_id,
            agent_id=agent_id,
            title=title,
            category=category,
            tags=tags,
            expires_at=expires_at,
            attribute=attribute,
            about=about,
            run_id=run_id,
            conversation_id=conversation_id,
        ),
    )


def list_proposals(
    *, status: ProposalStatus = ProposalStatus.WAITING, cursor: str | None = None, limit: int = 50
) -> Call[Page[Proposal]]:
    """List proposals, the newest first."""
    return Call(
        "GET",
        "/v1/memories/proposals",
        Page[Proposal],
        query=given(status=status, cursor=cursor, limit=limit),
    )


def get_proposal(proposal_id: Id) -> Call[Proposal]:
    """Get a proposal, whatever became of it."""
    return Call(
        "GET", "/v1/memories/proposals/{proposal_id}", Proposal, at={"proposal_id": proposal_id}
    )


def accept_proposal(proposal_id: Id, *, text: str | None = None) -> Call[Memory]:
    """Let a proposal become a memory, as it was proposed or with another text."""
    return Call(
        "POST",
        "/v1/memories/proposals/{proposal_id}/accept",
        Memory,
        at={"proposal_id": proposal_id},
        body=given(text=text),
    )


def discard_proposal(proposal_id: Id) -> Call[None]:
    """Discard a proposal; for 30 days it may be restored."""
    return Call(
        "POST",
        "/v1/memories/proposals/{proposal_id}/discard",
        type(None),
        at={"proposal_id": proposal_id},
    )


def restore_proposal(proposal_id: Id) -> Call[Memory]:
    """Let a proposal that was discarded within 30 days become a memory after all."""
    return Call(
        "POST",
        "/v1/memories/proposals/{proposal_id}/restore",
        Memory,
        at={"proposal_id": proposal_id},
    )


def tidy_up() -> Call[Listing[Proposal]]:
    """Propose to merge memories that say the same; nothing is merged before a person accepts it."""
    return Call("POST", "/v1/memories/tidy-up", Listing[Proposal])
