"""What callers see of knowledge: sources, and the chunks that answered a query."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.words.errors import MemorandaError
from memoranda.words.ref import ResourceRef

SourceKind = Literal["text", "markdown", "transcript", "pdf", "docx", "html", "csv"]
SourceStatus = Literal["pending", "ready", "failed"]

Step = Literal["waiting", "reading", "embedding", "writing"]

CHUNK_KIND = "chunk"
"""The kind of every ref to a chunk."""
COLLECTION: Final = "knowledge"
"""What the index of words keeps knowledge under."""


class SourceProgress(BaseModel):
    """How far a pending document is: `done` of `of` vectors are made, one for each chunk and model.

    There are two models while a switch is under way. `of` is 0 until the document is read, and without
    an embedder. `waits_for` says why it waits for one.
    """

    model_config = ConfigDict(frozen=True)

    step: Step
    done: int = 0
    of: int = 0
    waits_for: str | None = None


class Source(BaseModel):
    """One document. Only a `ready` one is searched; a `failed` one says why in `reason`.

    `organization_id` is None for a document of the platform. `size` is in bytes. A pending one
    says in `progress` how far it is.
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
    progress: SourceProgress | None = None


class SourceFailure(BaseModel):
    """A document that could not be embedded under a model, and why. It is found by its words."""

    model_config = ConfigDict(frozen=True)

    source_id: UUID
    title: str
    reason: str


class ModelStatus(BaseModel):
    """Which model's vectors answer searches, and how far a switch to the next one is.

    `active` is None where words alone answer, and `next` where no switch is under way. The counts are
    of the searchable documents under the next model, or else under the active one: `sources` of them
    are `ready`, `failed` or `waiting`, and of their `chunks` so many are `embedded`. `failures` names
    the first 50 that failed: they keep the next model from serving unless the switch is `forced`.
    `waits_for` says why documents wait, where an embedder has said so. `at_hand` are the models that
    can be switched to.
    """

    model_config = ConfigDict(frozen=True)

    active: str | None
    next: str | None
    forced: bool
    sources: int
    ready: int
    failed: int
    waiting: int
    chunks: int
    embedded: int
    failures: list[SourceFailure]
    waits_for: str | None
    at_hand: list[str]


@dataclass(frozen=True, slots=True)
class Document:
    """What is added: the bytes, their SHA-256 in hexadecimal, and what they are called.

    `misfit` is why they are not of their kind, where that shows before they are read.
    """

    content: bytes
    digest: str
    kind: SourceKind
    title: str
    uri: str | None
    object_key: str | None
    summary: str | None = None
    misfit: MemorandaError | None = None


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
    """Results, best first. `semantic` says whether meaning was compared, and `model` by which embedder.

    Where an organization's own documents and the platform's are compared by two models, `model`
    names both, with a comma between them.
    """

    model_config = ConfigDict(frozen=True)

    results: list[SearchResult]
    semantic: bool = False
    model: str | None = None
