"""What callers see of knowledge: sources, and the chunks that answered a query."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.words.ref import ResourceRef

SourceKind = Literal["text", "markdown", "transcript", "pdf", "docx", "html", "csv"]
SourceStatus = Literal["pending", "ready", "failed"]

CHUNK_KIND = "chunk"
"""The kind of every ref to a chunk."""


class Source(BaseModel):
    """One document. Only a `ready` one is searched; a `failed` one says why in `reason`.

    `organization_id` is None for a document of the platform. `size` is in bytes.
    """

    model_config = ConfigDict(frozen=True)

    id: UUID
    organization_id: UUID | None
    kind: SourceKind
    title: str
    uri: str | None
    object_key: str | None
    status: SourceStatus
    reason: str | None
    summary: str | None = None
    size: int
    chunks: int
    attempts: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Document:
    """What is added: the bytes, their SHA-256 in hexadecimal, and what they are called."""

    content: bytes
    digest: str
    kind: SourceKind
    title: str
    uri: str | None
    object_key: str | None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A source, and the worker that holds it until its lease ends."""

    source_id: UUID
    worker_id: UUID


class SearchResult(BaseModel):
    """One chunk that answered. `score` is above 0 and at most 1; `external_id` is a transcript turn's own id."""

    model_config = ConfigDict(frozen=True)

    ref: ResourceRef
    source_id: UUID
    ordinal: int
    external_id: str | None
    title: str
    place: str
    speaker: str | None
    at: str | None
    text: str
    score: float


class SearchAnswer(BaseModel):
    """Results, best first. `semantic` says whether meaning was compared, and `model` by which embedder."""

    model_config = ConfigDict(frozen=True)

    results: list[SearchResult]
    semantic: bool = False
    model: str | None = None
