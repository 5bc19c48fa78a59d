"""Routes for definitions: what agents, workflows and skills are for, and who may see that."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from memoranda.access.rates.service import Rate
from memoranda.state.definitions.models import Definition, DefinitionKind, DefinitionText
from memoranda.state.definitions.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor, Number
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.tools.errors import UnknownTool, WriterNeedsAgent
from memoranda.words.errors import Conflict, NotFound, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1/definitions", tags=["definitions"], route_class=Operation)


class DefinitionToMake(DefinitionText, Body):
    """A new definition. Without `viewers` everybody of the organization sees it once it is published."""

    kind: DefinitionKind
    slug: str


class DefinitionToChange(DefinitionText, Body):
    """All that is said of a definition, and the version that was read."""

    expected_version: Number


@routes.post("", status_code=201)
@raises(NotFound, Conflict, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def create_definition(body: DefinitionToMake, who: Caller, product: Product) -> Definition:
    """Make a definition, which no run is told of before it is published."""
    return await product.definitions.create(who, body.kind, body.slug, _text(body))


@routes.get("")
@counted(Rate.LISTS)
async def list_definitions(
    who: Caller,
    product: Product,
    *,
    kind: DefinitionKind | None = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Definition]:
    """List definitions, the newest first: all for owners and readers, for others what is published for them."""
    return await product.definitions.page(who, kind=kind, limit=limit, cursor=cursor)


@routes.get("/{definition_id}")
@counted(Rate.LISTS)
async def get_definition(definition_id: UUID, who: Caller, product: Product) -> Definition:
    """Get a definition."""
    return await product.definitions.get(who, definition_id)


@routes.put("/{definition_id}")
@raises(Conflict, UnknownTool, WriterNeedsAgent, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def update_definition(
    definition_id: UUID, body: DefinitionToChange, who: Caller, product: Product
) -> Definition:
    """Say all of a definition anew; its kind, its slug and whether it is published stay."""
    return await product.definitions.update(who, definition_id, _text(body), body.expected_version)


@routes.post("/{definition_id}/publish")
@raises(UnknownTool, WriterNeedsAgent, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def publish_definition(definition_id: UUID, who: Caller, product: Product) -> Definition:
    """Let runs be told of a definition from now on."""
    return await product.definitions.publish(who, definition_id)


@routes.post("/{definition_id}/unpublish")
@raises(ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def unpublish_definition(definition_id: UUID, who: Caller, product: Product) -> Definition:
    """Tell runs of a definition no more."""
    return await product.definitions.unpublish(who, definition_id)


@routes.delete("/{definition_id}", status_code=204)
@raises(ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def remove_definition(definition_id: UUID, who: Caller, product: Product) -> None:
    """Take a definition away."""
    await product.definitions.remove(who, definition_id)


def _text(body: DefinitionText) -> DefinitionText:
    return DefinitionText(**{name: getattr(body, name) for name in DefinitionText.model_fields})
