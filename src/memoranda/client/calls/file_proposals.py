"""Changes of files that wait for an owner."""

from memoranda.client.call import Call, Id, given
from memoranda.files.models import FileProposal, FileProposalStatus, FileSummary, ProposedChange
from memoranda.words.page import Page


def list_file_proposals(
    *,
    status: FileProposalStatus = FileProposalStatus.WAITING,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[FileProposal]]:
    """List proposed changes of files without their texts, the newest first."""
    return Call(
        "GET",
        "/v1/file-proposals",
        Page[FileProposal],
        query=given(status=status, cursor=cursor, limit=limit),
    )


def get_file_proposal(proposal_id: Id) -> Call[ProposedChange]:
    """Get a proposed change, and what it would change in what the file says now."""
    return Call(
        "GET", "/v1/file-proposals/{proposal_id}", ProposedChange, at={"proposal_id": proposal_id}
    )


def apply_file_proposal(proposal_id: Id, *, expected_hash: str | None = None) -> Call[FileSummary]:
    """Write what was proposed, over what its author had read or over the text with that hash."""
    return Call(
        "POST",
        "/v1/file-proposals/{proposal_id}/apply",
        FileSummary,
        at={"proposal_id": proposal_id},
        body=given(expected_hash=expected_hash),
    )


def discard_file_proposal(proposal_id: Id) -> Call[FileProposal]:
    """Let a proposed change not be done; nothing of its text is kept."""
    return Call(
        "POST",
        "/v1/file-proposals/{proposal_id}/discard",
        FileProposal,
        at={"proposal_id": proposal_id},
    )
