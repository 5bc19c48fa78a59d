"""Routes for knowledge: documents taken in, followed, searched and removed."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, Field

from memoranda.knowledge.errors import (
    BinaryFile,
    BrokenTranscript,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedDocument,
    UnknownModel,
    UnsupportedDocument,
    WrongKind,
)
from memoranda.knowledge.models import ModelStatus, SearchAnswer, Source, SourceKind, SourceStatus
from memoranda.knowledge.service import MOST_LISTED, MOST_RESULTS, MOST_SOURCES
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor, Flag, Number
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.validation import LONGEST_STEP, MOST_ERRORS
from memoranda.words.errors import Conflict, Invalid, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1/knowledge", tags=["knowledge"], route_class=Operation)

LONGEST_MODEL: Final = 200
OfPlatform = Annotated[bool, Query(description="Of the platform's documents; the operator's.")]

MISFITS: Final = (
    *(BinaryFile, BrokenTranscript, EmptyDocument),
    *(EncryptedDocument, UnsupportedDocument, WrongKind),
)
"""Why bytes don't take the place of a ready document, as far as a look at them tells."""

FIELDS: Final = ("file", "kind", "title", "uri", "object_key", "summary", "platform")


class SourceTaken(BaseModel):
    """A document that was taken, and waits to be read."""

    id: UUID
    status: SourceStatus


class Described(Body):
    """What a source is about, in at most 1,000 characters; null takes that back."""

    summary: str | None


class SwitchToMake(Body):
    """The model to switch to; `none` is words alone. With `force`, what fails under it does without."""

    model: str = Field(min_length=1, max_length=LONGEST_MODEL)
    force: Flag = False
    platform: Flag = False


class SearchToDo(Body):
    """What to look for, and where."""

    query: str
    limit: Number = Field(default=8, ge=1, le=MOST_RESULTS)
    include_organization: Flag = True
    include_platform: Flag = False
    source_ids: list[UUID] | None = Field(default=None, max_length=MOST_SOURCES)


@routes.post("/sources", status_code=202)
@raises(Conflict, DocumentTooLarge, ReadOnly, *MISFITS)
async def add_source(
    request: Request,
    who: Caller,
    product: Product,
    *,
    file: Annotated[UploadFile, File(description="The document.")],
    title: Annotated[str | None, Form(description="Without one, the file's name.")] = None,
    kind: Annotated[
        SourceKind | None, Form(description="Told from the bytes and the name if left out.")
    ] = None,
    uri: Annotated[str | None, Form(description="Where it comes from.")] = None,
    object_key: Annotated[str | None, Form(description="What the host calls it.")] = None,
    summary: Annotated[str | None, Form(description="What it is about, in a sentence.")] = None,
    platform: Annotated[bool, Form(description="For every organization; the operator's.")] = False,
) -> SourceTaken:
    """Put a document in line to be taken in. GET the source to see how it goes."""
    _check_fields(await request.form())
    source = await product.knowledge.add(
        who,
        await file.read(),
        kind=kind,
        filename=file.filename or None,
        title=title or file.filename or "",
        uri=uri,
        object_key=object_key,
        summary=summary,
        platform=platform,
    )
    product.worker.wake()
    return SourceTaken(id=source.id, status=source.status)


def _check_fields(form: Any) -> None:
    sent = [name for name, _ in form.multi_items()]
    unknown = [name[:LONGEST_STEP] for name in sent if name not in FIELDS]
    if unknown or len(set(sent)) < len(sent):
        raise Invalid(
            f"The form has the fields {', '.join(FIELDS)}, each once; leave out what else there is.",
            errors=[
                {"path": ["body", name], "message": "Unknown field."}
                for name in unknown[:MOST_ERRORS]
            ],
        )


@routes.get("/sources")
async def list_sources(
    who: Caller,
    product: Product,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Source]:
    """List sources, the newest first."""
    return await product.knowledge.page(who, limit=limit, cursor=cursor)


@routes.get("/sources/{source_id}")
async def get_source(source_id: UUID, who: Caller, product: Product) -> Source:
    """Get a source: its status, the reason why it failed, how far it is."""
    return await product.knowledge.get(who, source_id)


@routes.put("/sources/{source_id}/summary")
@raises(ReadOnly)
async def describe_source(
    source_id: UUID, body: Described, who: Caller, product: Product
) -> Source:
    """Say what a source is about, as the dossier tells it."""
    return await product.knowledge.describe(who, source_id, summary=body.summary)


@routes.post("/sources/{source_id}/retry", status_code=202)
@raises(Conflict, ReadOnly)
async def retry_source(source_id: UUID, who: Caller, product: Product) -> SourceTaken:
    """Put a failed source in line again."""
    source = await product.knowledge.retry(who, source_id)
    product.worker.wake()
    return SourceTaken(id=source.id, status=source.status)


@routes.delete("/sources/{source_id}", status_code=204)
@raises(ReadOnly)
async def remove_source(source_id: UUID, who: Caller, product: Product) -> None:
    """Remove a source with all that was made of it."""
    await product.knowledge.remove(who, source_id)


@routes.post("/search")
async def search_knowledge(body: SearchToDo, who: Caller, product: Product) -> SearchAnswer:
    """Find the passages that answer a query, best first."""
    return await product.knowledge.search(
        who,
        body.query,
        limit=body.limit,
        include_organization=body.include_organization,
        include_platform=body.include_platform,
        source_ids=body.source_ids,
    )


@routes.get("/model")
@raises(ReadOnly)
async def get_model(who: Caller, product: Product, *, platform: OfPlatform = False) -> ModelStatus:
    """Say which model's vectors answer searches, and how far a switch to the next one is."""
    return await product.knowledge.model(who, platform=platform)


@routes.post("/model", status_code=202)
@raises(ReadOnly, UnknownModel)
async def switch_model(body: SwitchToMake, who: Caller, product: Product) -> ModelStatus:
    """Begin to switch to another model, or go on. GET it to see how far it is."""
    status = await product.knowledge.switch_model(
        who, body.model, platform=body.platform, force=body.force
    )
    product.worker.wake()
    return status


@routes.delete("/model")
@raises(ReadOnly)
async def cancel_switch(
    who: Caller, product: Product, *, platform: OfPlatform = False
) -> ModelStatus:
    """Leave the model that serves as it is, and no other to come."""
    status = await product.knowledge.cancel_switch(who, platform=platform)
    product.worker.wake()
    return status
