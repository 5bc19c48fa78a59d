"""Routes for the organization's context files, and for changes of any file that wait for an owner."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi import Body as FromBody

from memoranda.access.models import Principal
from memoranda.access.rates.service import Rate
from memoranda.app import Memoranda
from memoranda.files.errors import (
    AlwaysLoadedFull,
    FileChanged,
    FileProposalsFull,
    FileTooLarge,
    RevisionGone,
    UnknownFile,
)
from memoranda.files.models import (
    ContextFile,
    ErasedRevision,
    FileProposal,
    FileProposalStatus,
    FileRevision,
    FileSummary,
    LoadMode,
    ProposedChange,
    RevisionText,
)
from memoranda.files.service import MOST_LISTED
from memoranda.instructions.models import FileReport, ListedFiles
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Listing, Moment
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import Conflict, ReadOnly, SecretFound
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["context files"], route_class=Operation)

Most = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Before = Annotated[
    int | None, Query(ge=1, le=LARGEST, description="Go on below the revision of this number.")
]
Revision = Annotated[int, Path(ge=1, le=LARGEST, description="The number of a revision.")]
At = Annotated[Moment, Query(description="A time with its zone.")]


class FileToWrite(Body):
    """What a file is to say, and the hash of what it said when it was read."""

    body: str
    expected_hash: str


class FileToPropose(FileToWrite):
    """The same as a proposal, and in the course of what it is made."""

    run_id: UUID | None = None
    conversation_id: UUID | None = None


class WrittenFile(FileSummary):
    """A file that was just written, and how much of it reaches agents by now."""

    load: FileReport


class HashRead(Body):
    """The hash of what the file said when it was read, where it is to be held to that."""

    expected_hash: str | None = None


class ModeToSet(Body):
    """How a file is loaded."""

    load_mode: LoadMode


MaybeHash = Annotated[HashRead, FromBody(default_factory=HashRead)]


async def with_load(product: Memoranda, who: Principal, written: ContextFile) -> WrittenFile:
    """What a write answers: an editor needs no second call to show what is skipped."""
    load = await product.load_meter.file(who, written.name, agent=written.agent_id)
    return WrittenFile(**dict(written.summary()), load=load)


@routes.get("/context-files")
@counted(Rate.LISTS)
async def list_context_files(who: Caller, product: Product) -> ListedFiles:
    """List the organization's six files without their texts, and how much of them reaches every run."""
    return await product.load_meter.files(who)


@routes.get("/context-files/{slug}")
@raises(UnknownFile)
@counted(Rate.LISTS)
async def get_context_file(slug: str, who: Caller, product: Product) -> ContextFile:
    """Get a file, byte for byte as it was written."""
    return await product.files.get(who, slug)


@routes.put("/context-files/{slug}")
@raises(UnknownFile, FileChanged, FileTooLarge, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def write_context_file(
    slug: str, body: FileToWrite, who: Caller, product: Product
) -> WrittenFile:
    """Write a file over what was read; what it said is kept as a revision."""
    written = await product.files.write(who, slug, body.body, body.expected_hash)
    return await with_load(product, who, written)


@routes.patch("/context-files/{slug}/load-mode")
@raises(UnknownFile, AlwaysLoadedFull, ReadOnly)
@counted(Rate.FILE_WRITES)
async def set_load_mode(slug: str, body: ModeToSet, who: Caller, product: Product) -> FileSummary:
    """Say whether every run is given a file, or reads it on demand. Three at most are always loaded."""
    return (await product.files.set_load_mode(who, slug, body.load_mode)).summary()


@routes.get("/context-files/{slug}/revisions")
@raises(UnknownFile)
@counted(Rate.LISTS)
async def list_file_revisions(
    slug: str, who: Caller, product: Product, *, before: Before = None, limit: Most = 20
) -> Listing[FileRevision]:
    """List what a file was, the newest and present state first."""
    found = await product.files.history(who, slug, limit=limit, before=before)
    return Listing(items=found)


@routes.get("/context-files/{slug}/revisions/{number}")
@raises(UnknownFile, RevisionGone)
@counted(Rate.LISTS)
async def get_file_revision(
    slug: str, number: Revision, who: Caller, product: Product
) -> RevisionText:
    """Get one state of a file with its text."""
    return await product.files.revision(who, slug, number)


@routes.get("/context-files/{slug}/as-of")
@raises(UnknownFile, RevisionGone)
@counted(Rate.LISTS)
async def get_file_as_of(slug: str, time: At, who: Caller, product: Product) -> RevisionText:
    """Get a file as it was at a time."""
    return await product.files.as_of(who, slug, time)


@routes.post("/context-files/{slug}/revisions/{number}/restore")
@raises(UnknownFile, FileChanged, RevisionGone, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def restore_file_revision(
    slug: str, number: Revision, body: MaybeHash, who: Caller, product: Product
) -> FileSummary:
    """Write again what a revision said, as a new revision."""
    restored = await product.files.restore(who, slug, number, expected_hash=body.expected_hash)
    return restored.summary()


@routes.delete("/context-files/{slug}/revisions/{number}")
@raises(UnknownFile, Conflict, RevisionGone, ReadOnly)
@counted(Rate.FILE_WRITES)
async def erase_file_revision(
    slug: str, number: Revision, who: Caller, product: Product
) -> ErasedRevision:
    """Take away for good what an earlier revision said; what the file says now is not touched."""
    return await product.files.erase_revision(who, slug, number)


@routes.post("/context-files/{slug}/proposals", status_code=202)
@raises(UnknownFile, FileChanged, FileTooLarge, FileProposalsFull, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def propose_file_change(
    slug: str, body: FileToPropose, who: Caller, product: Product
) -> ProposedChange:
    """Propose what a file is to say: it waits until an owner applies it."""
    return await product.file_proposals.propose(who, slug, **dict(body))


@routes.get("/file-proposals")
@counted(Rate.LISTS)
async def list_file_proposals(
    who: Caller,
    product: Product,
    *,
    status: FileProposalStatus = FileProposalStatus.WAITING,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[FileProposal]:
    """List proposed changes of files without their texts, the newest first."""
    return await product.file_proposals.page(who, status=status, limit=limit, cursor=cursor)


@routes.get("/file-proposals/{proposal_id}")
@counted(Rate.LISTS)
async def get_file_proposal(proposal_id: UUID, who: Caller, product: Product) -> ProposedChange:
    """Get a proposed change, and what it would change in what the file says now."""
    return await product.file_proposals.get(who, proposal_id)


@routes.post("/file-proposals/{proposal_id}/apply")
@raises(Conflict, FileChanged, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def apply_file_proposal(
    proposal_id: UUID, body: MaybeHash, who: Caller, product: Product
) -> FileSummary:
    """Write what was proposed, over what its author had read or over the text with that hash."""
    applied = await product.file_proposals.apply(who, proposal_id, expected_hash=body.expected_hash)
    return applied.summary()


@routes.post("/file-proposals/{proposal_id}/discard")
@raises(Conflict, ReadOnly)
@counted(Rate.FILE_WRITES)
async def discard_file_proposal(proposal_id: UUID, who: Caller, product: Product) -> FileProposal:
    """Let a proposed change not be done; nothing of its text is kept."""
    return await product.file_proposals.discard(who, proposal_id)
