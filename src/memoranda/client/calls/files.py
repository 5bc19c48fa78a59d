"""The organization's context files."""

from datetime import datetime

from memoranda.client.answers import Listing, WrittenFile
from memoranda.client.call import Call, Id, given
from memoranda.files.models import (
    ContextFile,
    ErasedRevision,
    FileRevision,
    FileSummary,
    LoadMode,
    ProposedChange,
    RevisionText,
)
from memoranda.instructions.models import ListedFiles


def list_context_files() -> Call[ListedFiles]:
    """List the organization's six files without their texts, and how much of them reaches every run."""
    return Call("GET", "/v1/context-files", ListedFiles)


def get_context_file(slug: str) -> Call[ContextFile]:
    """Get a file, byte for byte as it was written."""
    return Call("GET", "/v1/context-files/{slug}", ContextFile, at={"slug": slug})


def write_context_file(slug: str, body: str, expected_hash: str) -> Call[WrittenFile]:
    """Write a file over what was read; what it said is kept as a revision."""
    return Call(
        "PUT",
        "/v1/context-files/{slug}",
        WrittenFile,
        at={"slug": slug},
        body=given(body=body, expected_hash=expected_hash),
    )


def set_load_mode(slug: str, load_mode: LoadMode) -> Call[FileSummary]:
    """Say whether every run is given a file, or reads it on demand. Three at most are always loaded."""
    return Call(
        "PATCH",
        "/v1/context-files/{slug}/load-mode",
        FileSummary,
        at={"slug": slug},
        body=given(load_mode=load_mode),
    )


def list_file_revisions(
    slug: str, *, before: int | None = None, limit: int = 20
) -> Call[Listing[FileRevision]]:
    """List what a file was, the newest and present state first."""
    return Call(
        "GET",
        "/v1/context-files/{slug}/revisions",
        Listing[FileRevision],
        at={"slug": slug},
        query=given(before=before, limit=limit),
    )


def get_file_revision(slug: str, number: int) -> Call[RevisionText]:
    """Get one state of a file with its text."""
    return Call(
        "GET",
        "/v1/context-files/{slug}/revisions/{number}",
        RevisionText,
        at={"slug": slug, "number": number},
    )


def erase_file_revision(slug: str, number: int) -> Call[ErasedRevision]:
    """Take away for good what an earlier revision said; what the file says now is not touched."""
    return Call(
        "DELETE",
        "/v1/context-files/{slug}/revisions/{number}",
        ErasedRevision,
        at={"slug": slug, "number": number},
    )


def get_file_as_of(slug: str, time: datetime) -> Call[RevisionText]:
    """Get a file as it was at a time."""
    return Call(
        "GET",
        "/v1/context-files/{slug}/as-of",
        RevisionText,
        at={"slug": slug},
        query=given(time=time),
    )


def restore_file_revision(
    slug: str, number: int, *, expected_hash: str | None = None
) -> Call[FileSummary]:
    """Write again what a revision said, as a new revision."""
    return Call(
        "POST",
        "/v1/context-files/{slug}/revisions/{number}/restore",
        FileSummary,
        at={"slug": slug, "number": number},
        body=given(expected_hash=expected_hash),
    )


def propose_file_change(
    slug: str,
    body: str,
    expected_hash: str,
    *,
    run_id: Id | None = None,
    conversation_id: Id | None = None,
) -> Call[ProposedChange]:
    """Propose what a file is to say: it waits until an owner applies it."""
    return Call(
        "POST",
        "/v1/context-files/{slug}/proposals",
        ProposedChange,
        at={"slug": slug},
        body=given(
            body=body, expected_hash=expected_hash, run_id=run_id, conversation_id=conversation_id
        ),
    )
