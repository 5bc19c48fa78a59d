"""Memories: kept, found, changed, forgotten, exported and imported."""

from collections.abc import Sequence
from datetime import datetime

from memoranda.client.answers import Forgotten, Listing
from memoranda.client.call import OMITTED, Call, Content, File, Id, Omitted, changed, given
from memoranda.memories.models import (
    Memory,
    MemoryPage,
    MemorySearch,
    MemoryStats,
    MemoryStatus,
    Recall,
    Revision,
)
from memoranda.memories.removal.models import Erased
from memoranda.memories.transfer.models import ImportReport, ImportSource
from memoranda.words.ref import ResourceRef


def forget_all(confirm: str) -> Call[Forgotten]:
    """Forget every active memory and discard every waiting proposal, and nothing else."""
    return Call("POST", "/v1/memories/forget-all", Forgotten, body=given(confirm=confirm))


def erase_user(user_id: Id) -> Call[Erased]:
    """Erase all that is for one user, at once and for good: memories and proposals, chats, conversations, section of the dossier, and what agent frameworks keep for it."""
    return Call("POST", "/v1/memories/erase-user", Erased, body=given(user_id=user_id))


def erase_memory(memory_id: Id) -> Call[Erased]:
    """Erase a memory and its history, at once and for good."""
    return Call("POST", "/v1/memories/{memory_id}/erase", Erased, at={"memory_id": memory_id})


def export_memories(*, history: bool = False) -> Call[str]:
    """Export what you may know, as JSON Lines: a header, waiting proposals, and memories."""
    return Call("GET", "/v1/memories/export", str, query=given(history=history))


def import_memories(
    file: Content,
    *,
    source: ImportSource = ImportSource.AUTO,
    dry_run: bool = False,
    user_id: Id | None = None,
    agent_id: Id | None = None,
) -> Call[ImportReport]:
    """Take in the file that is the body: an export of this product, or of another one. The answer says what became of it."""
    return Call(
        "POST",
        "/v1/memories/import",
        ImportReport,
        query=given(source=source, dry_run=dry_run, user_id=user_id, agent_id=agent_id),
        body=File(file),
    )


def remember(
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
    pinned: bool = False,
) -> Call[Memory]:
    """Remember a text. Under an attribute, it takes the place of what was known before."""
    return Call(
        "POST",
        "/v1/memories",
        Memory,
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
            pinned=pinned,
        ),
    )


def list_memories(
    *,
    status: MemoryStatus = MemoryStatus.ACTIVE,
    pinned_only: bool = False,
    category: str | None = None,
    tag: str | None = None,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    oldest_first: bool = False,
    unused_only: bool = False,
    as_of: datetime | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[MemoryPage]:
    """List memories, the newest first: those that are active, or those that are forgotten."""
    return Call(
        "GET",
        "/v1/memories",
        MemoryPage,
        query=given(
            status=status,
            pinned_only=pinned_only,
            category=category,
            tag=tag,
            user_id=user_id,
            agent_id=agent_id,
            oldest_first=oldest_first,
            unused_only=unused_only,
            as_of=as_of,
            cursor=cursor,
            limit=limit,
        ),
    )


def search_memories(
    query: str,
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    limit: int = 50,
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> Call[MemorySearch]:
    """Search memories by words, letters and meaning. The query stands in the body, so that no log of addresses holds it."""
    return Call(
        "POST",
        "/v1/memories/search",
        MemorySearch,
        body=given(
            query=query,
            user_id=user_id,
            agent_id=agent_id,
            limit=limit,
            categories=categories,
            tags=tags,
        ),
        repeatable=True,
    )


def recall(
    query: str,
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    run_id: Id | None = None,
    enabled: bool = True,
) -> Call[Recall]:
    """Get the block of memories that a run about the query is given: pinned ones, then the nearest."""
    return Call(
        "POST",
        "/v1/memories/recall",
        Recall,
        body=given(query=query, user_id=user_id, agent_id=agent_id, run_id=run_id, enabled=enabled),
    )


def memory_stats() -> Call[MemoryStats]:
    """Count memories and proposals, beside how many there may be."""
    return Call("GET", "/v1/memories/stats", MemoryStats)


def get_memory(memory_id: Id) -> Call[Memory]:
    """Get a memory as it is now."""
    return Call("GET", "/v1/memories/{memory_id}", Memory, at={"memory_id": memory_id})


def update_memory(
    memory_id: Id,
    *,
    text: Omitted | str = OMITTED,
    title: Omitted | str | None = OMITTED,
    category: Omitted | str | None = OMITTED,
    tags: Omitted | Sequence[str] = OMITTED,
    expires_at: Omitted | datetime | None = OMITTED,
    pinned: Omitted | bool = OMITTED,
    user_id: Omitted | Id | None = OMITTED,
    agent_id: Omitted | Id | None = OMITTED,
    expected_version: int | None = None,
) -> Call[Memory]:
    """Change what a memory says, its pin or its audience; another audience gives it another id."""
    return Call(
        "PATCH",
        "/v1/memories/{memory_id}",
        Memory,
        at={"memory_id": memory_id},
        body=changed(
            text=text,
            title=title,
            category=category,
            tags=tags,
            expires_at=expires_at,
            pinned=pinned,
            user_id=user_id,
            agent_id=agent_id,
            expected_version=expected_version,
        ),
    )


def memory_history(memory_id: Id) -> Call[Listing[Revision]]:
    """List what a memory said, revision by revision."""
    return Call(
        "GET", "/v1/memories/{memory_id}/history", Listing[Revision], at={"memory_id": memory_id}
    )


def forget(memory_id: Id) -> Call[Memory]:
    """Forget a memory. The answer says until when it may be restored."""
    return Call("POST", "/v1/memories/{memory_id}/forget", Memory, at={"memory_id": memory_id})


def restore_memory(memory_id: Id) -> Call[Memory]:
    """Let a memory that was forgotten within 30 days say again what it said."""
    return Call("POST", "/v1/memories/{memory_id}/restore", Memory, at={"memory_id": memory_id})
