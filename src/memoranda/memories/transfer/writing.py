"""Writes rows as lines of an export. Pure: the same rows make the same bytes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.memories.about import read_refs, ref_of
from memoranda.memories.audience import Audience
from memoranda.memories.chain import restorable_until
from memoranda.memories.transfer.formats.own import FORMAT, VERSION
from memoranda.memories.transfer.store import Whose
from memoranda.storage import Row
from memoranda.words.jsonlines import json_line


def header() -> str:
    """The first line."""
    return json_line({"format": FORMAT, "version": VERSION})


def memory_line(organization_id: UUID, row: Row, whose: Whose) -> str:
    """A memory, active or forgotten."""
    until = None if row.live else restorable_until(row.recorded_at, row.expires_at)
    return json_line(
        {
            "kind": "memory",
            "status": "active" if row.live else "forgotten",
            "id": str(row.id),
            "version": row.version,
            **_said(organization_id, row, whose),
            "pinned": row.pinned,
            "created_at": _time(row.created_at),
            "recorded_at": _time(row.recorded_at),
            "uses": row.uses,
            "used_at": _time(row.used_at),
            **({} if until is None else {"restorable_until": _time(until)}),
        }
    )


def proposal_line(organization_id: UUID, row: Row, whose: Whose) -> str:
    """A proposal that waits."""
    return json_line(
        {
            "kind": "proposal",
            "id": str(row.id),
            **_said(organization_id, row, whose),
            "created_at": _time(row.created_at),
        }
    )


def revision_line(row: Row) -> str:
    """What a memory said at one of its versions; a tombstone says nothing."""
    return json_line(
        {
            "kind": "revision",
            "memory_id": str(row.memory_id),
            "version": row.version,
            "text": row.text,
            "title": row.title,
            "category": row.category,
            "tags": list(row.tags),
            "expires_at": _time(row.expires_at),
            "origin": row.origin,
            "created_at": _time(row.created_at),
            "forgotten_at": _time(row.forgotten_at),
        }
    )


def _said(organization_id: UUID, row: Row, whose: Whose) -> dict[str, Any]:
    user, agent = whose.users.get(row.user_id), whose.agents.get(row.agent_id)
    return {
        "text": row.text,
        "title": row.title,
        "category": row.category,
        "tags": list(row.tags),
        "expires_at": _time(row.expires_at),
        **_key(organization_id, row),
        "user": None
        if user is None
        else {"id": str(user.id), "external_id": user.external_id, "name": user.name},
        "agent": None
        if agent is None
        else {"id": str(agent.id), "slug": agent.slug, "external_id": agent.external_id},
        "origin": row.origin,
    }


def _key(organization_id: UUID, row: Row) -> dict[str, Any]:
    """The attribute alone where the key begins with whose fact it is: so it can be made anew elsewhere.

    What is about a row stays so; what is about none that can be read is refused where it is taken in.
    """
    about = ref_of(read_refs(row.subject_refs))
    if about is not None:
        attribute = None if row.subject_key is None else row.subject_key.split(":", 2)[2]
        return {"attribute": attribute, "about": {"kind": about.kind, "id": about.id}}
    if row.subject_key is None:
        return {"attribute": None}
    kind, id_, attribute = row.subject_key.split(":", 2)
    owner = Audience(row.user_id, row.agent_id).owner(organization_id)
    if (owner.kind, owner.id) == (kind, id_):
        return {"attribute": attribute}
    return {"attribute": attribute, "about": {"kind": kind, "id": id_}}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
