"""Routes for an agent's files, named by the agent's id, slug or external id."""

from fastapi import APIRouter

from memoranda.access.rates.service import Rate
from memoranda.files.errors import (
    FileChanged,
    FileProposalsFull,
    FileTooLarge,
    NotYourFile,
    RevisionGone,
    UnknownFile,
)
from memoranda.files.models import (
    ContextFile,
    ErasedRevision,
    FileRevision,
    FileSummary,
    ProposedChange,
    RevisionText,
)
from memoranda.instructions.models import ListedFiles
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.files import (
    At,
    Before,
    FileToPropose,
    FileToWrite,
    MaybeHash,
    Most,
    Revision,
    WrittenFile,
    with_load,
)
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Listing
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import Conflict, ReadOnly, SecretFound

routes = APIRouter(prefix="/v1/agents/{agent}/files", tags=["agent files"], route_class=Operation)


@routes.get("")
@raises(NotYourFile)
@counted(Rate.LISTS)
async def list_agent_files(agent: str, who: Caller, product: Product) -> ListedFiles:
    """List an agent's six files without their texts, and how much of them reaches its runs."""
    return await product.load_meter.files(who, agent=agent)


@routes.get("/{name}")
@raises(UnknownFile, NotYourFile)
@counted(Rate.LISTS)
async def get_agent_file(agent: str, name: str, who: Caller, product: Product) -> ContextFile:
    """Get an agent's file, byte for byte as it was written."""
    return await product.files.get(who, name, agent=agent)


@routes.put("/{name}")
@raises(UnknownFile, NotYourFile, FileChanged, FileTooLarge, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def write_agent_file(
    agent: str, name: str, body: FileToWrite, who: Caller, product: Product
) -> WrittenFile:
    """Write an agent's file over what was read. An agent's own key writes its NOTES.md alone."""
    written = await product.files.write(who, name, body.body, body.expected_hash, agent=agent)
    return await with_load(product, who, written)


@routes.get("/{name}/revisions")
@raises(UnknownFile, NotYourFile)
@counted(Rate.LISTS)
async def list_agent_file_revisions(
    agent: str,
    name: str,
    who: Caller,
    product: Product,
    *,
    before: Before = None,
    limit: Most = 20,
) -> Listing[FileRevision]:
    """List what an agent's file was, the newest and present state first."""
    found = await product.files.history(who, name, agent=agent, limit=limit, before=before)
    return Listing(items=found)


@routes.get("/{name}/revisions/{number}")
@raises(UnknownFile, NotYourFile, RevisionGone)
@counted(Rate.LISTS)
async def get_agent_file_revision(
    agent: str, name: str, number: Revision, who: Caller, product: Product
) -> RevisionText:
    """Get one state of an agent's file with its text."""
    return await product.files.revision(who, name, number, agent=agent)


@routes.get("/{name}/as-of")
@raises(UnknownFile, NotYourFile, RevisionGone)
@counted(Rate.LISTS)
async def get_agent_file_as_of(
    agent: str, name: str, time: At, who: Caller, product: Product
) -> RevisionText:
    """Get an agent's file as it was at a time."""
    return await product.files.as_of(who, name, time, agent=agent)


@routes.post("/{name}/revisions/{number}/restore")
@raises(UnknownFile, NotYourFile, FileChanged, RevisionGone, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def restore_agent_file_revision(
    agent: str, name: str, number: Revision, body: MaybeHash, *, who: Caller, product: Product
) -> FileSummary:
    """Write again what a revision of an agent's file said, as a new revision."""
    restored = await product.files.restore(
        who, name, number, agent=agent, expected_hash=body.expected_hash
    )
    return restored.summary()


@routes.delete("/{name}/revisions/{number}")
@raises(UnknownFile, NotYourFile, Conflict, RevisionGone, ReadOnly)
@counted(Rate.FILE_WRITES)
async def erase_agent_file_revision(
    agent: str, name: str, number: Revision, who: Caller, product: Product
) -> ErasedRevision:
    """Take away for good what an earlier revision of an agent's file said."""
    return await product.files.erase_revision(who, name, number, agent=agent)


@routes.post("/{name}/proposals", status_code=202)
@raises(
    *(UnknownFile, NotYourFile, FileChanged, FileTooLarge),
    *(FileProposalsFull, SecretFound, ReadOnly),
)
@counted(Rate.FILE_WRITES)
async def propose_agent_file_change(
    agent: str, name: str, body: FileToPropose, who: Caller, product: Product
) -> ProposedChange:
    """Propose what an agent's file is to say: it waits until an owner applies it."""
    return await product.file_proposals.propose(who, name, agent=agent, **dict(body))
