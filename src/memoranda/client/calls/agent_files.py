"""The files of an agent, named by its id, slug or external id."""

from datetime import datetime

from memoranda.client.answers import Listing, WrittenFile
from memoranda.client.call import Call, Id, given
from memoranda.files.models import (
    ContextFile,
    ErasedRevision,
    FileRevision,
    FileSummary,
    ProposedChange,
    RevisionText,
)
from memoranda.instructions.models import ListedFiles


def list_agent_files(agent: Id) -> Call[ListedFiles]:
    """List an agent's six files without their texts, and how much of them reaches its runs."""
    return Call("GET", "/v1/agents/{agent}/files", ListedFiles, at={"agent": agent})


def get_agent_file(agent: Id, name: str) -> Call[ContextFile]:
    """Get an agent's file, byte for byte as it was written."""
    return Call(
        "GET", "/v1/agents/{agent}/files/{name}", ContextFile, at={"agent": agent, "name": name}
    )


def write_agent_file(agent: Id, name: str, body: str, expected_hash: str) -> Call[WrittenFile]:
    """Write an agent's file over what was read. An agent's own key writes its NOTES.md alone."""
    return Call(
        "PUT",
        "/v1/agents/{agent}/files/{name}",
        WrittenFile,
        at={"agent": agent, "name": name},
        body=given(body=body, expected_hash=expected_hash),
    )


def list_agent_file_revisions(
    agent: Id, name: str, *, before: int | None = None, limit: int = 20
) -> Call[Listing[FileRevision]]:
    """List what an agent's file was, the newest and present state first."""
    return Call(
        "GET",
        "/v1/agents/{agent}/files/{name}/revisions",
        Listing[FileRevision],
        at={"agent": agent, "name": name},
        query=given(before=before, limit=limit),
    )


def get_agent_file_revision(agent: Id, name: str, number: int) -> Call[RevisionText]:
    """Get one state of an agent's file with its text."""
    return Call(
        "GET",
        "/v1/agents/{agent}/files/{name}/revisions/{number}",
        RevisionText,
        at={"agent": agent, "name": name, "number": number},
    )


def erase_agent_file_revision(agent: Id, name: str, number: int) -> Call[ErasedRevision]:
    """Take away for good what an earlier revision of an agent's file said."""
    return Call(
        "DELETE",
        "/v1/agents/{agent}/files/{name}/revisions/{number}",
        ErasedRevision,
        at={"agent": agent, "name": name, "number": number},
    )


def get_agent_file_as_of(agent: Id, name: str, time: datetime) -> Call[RevisionText]:
    """Get an agent's file as it was at a time."""
    return Call(
        "GET",
        "/v1/agents/{agent}/files/{name}/as-of",
        RevisionText,
        at={"agent": agent, "name": name},
        query=given(time=time),
    )


def restore_agent_file_revision(
    agent: Id, name: str, number: int, *, expected_hash: str | None = None
) -> Call[FileSummary]:
    """Write again what a revision of an agent's file said, as a new revision."""
    return Call(
        "POST",
        "/v1/agents/{agent}/files/{name}/revisions/{number}/restore",
        FileSummary,
        at={"agent": agent, "name": name, "number": number},
        body=given(expected_hash=expected_hash),
    )


def propose_agent_file_change(
    agent: Id,
    name: str,
    body: str,
    expected_hash: str,
    *,
    run_id: Id | None = None,
    conversation_id: Id | None = None,
) -> Call[ProposedChange]:
    """Propose what an agent's file is to say: it waits until an owner applies it."""
    return Call(
        "POST",
        "/v1/agents/{agent}/files/{name}/proposals",
        ProposedChange,
        at={"agent": agent, "name": name},
        body=given(
            body=body, expected_hash=expected_hash, run_id=run_id, conversation_id=conversation_id
        ),
    )
