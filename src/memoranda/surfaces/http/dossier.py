"""Routes for the dossier: what an organization says of itself, and a user's section of it."""

from uuid import UUID

from fastapi import APIRouter

from memoranda.access.rates.service import Rate
from memoranda.state.dossier.models import CompanyDossier, DossierText, ToldDossier, UserSection
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Number
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import Conflict, NotFound, ReadOnly

routes = APIRouter(prefix="/v1/dossier", tags=["dossier"], route_class=Operation)


class DossierToWrite(DossierText, Body):
    """The organization's part as a whole, and the version that was read: 0 before the first write."""

    expected_version: Number


class SectionToWrite(Body):
    """A user's section, and the version that was read: 0 before the first write."""

    text: str
    expected_version: Number


@routes.get("")
@raises(NotFound)
@counted(Rate.LISTS)
async def get_dossier(who: Caller, product: Product, user_id: UUID | None = None) -> ToldDossier:
    """Get the dossier, with a user's section where one is named, and the facts that a model is told of it."""
    return await product.dossier_reader.page(who, user_id=user_id)


@routes.put("")
@raises(Conflict, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def put_dossier(body: DossierToWrite, who: Caller, product: Product) -> CompanyDossier:
    """Write the organization's part of the dossier as a whole."""
    text = DossierText(**{name: getattr(body, name) for name in DossierText.model_fields})
    return await product.dossier.put(who, text, body.expected_version)


@routes.get("/users/{user_id}")
@counted(Rate.LISTS)
async def get_user_section(user_id: UUID, who: Caller, product: Product) -> UserSection:
    """Get a user's section of the dossier; an empty one where nothing was written."""
    return await product.dossier.get_user(who, user_id)


@routes.put("/users/{user_id}")
@raises(Conflict, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def put_user_section(
    user_id: UUID, body: SectionToWrite, who: Caller, product: Product
) -> UserSection:
    """Write a user's section of the dossier; an empty text says nothing any more."""
    return await product.dossier.put_user(who, user_id, body.text, body.expected_version)
