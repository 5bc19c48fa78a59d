"""Routes for application state: the kinds of rows that may be asked for, and rows by their refs."""

from fastapi import APIRouter

from memoranda.state.models import Resolved, StateKind
from memoranda.storage.host import HostMoved
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Listing
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import OverLimit
from memoranda.words.ref import ResourceRef

routes = APIRouter(prefix="/v1/state", tags=["state"], route_class=Operation)


class RowsToResolve(Body):
    """Which rows to read. At most 100; two refs of one kind and id name one row."""

    refs: tuple[ResourceRef, ...]


@routes.get("/kinds")
async def list_state_kinds(who: Caller, product: Product) -> Listing[StateKind]:
    """List the kinds of the application's rows that may be asked for, with their columns."""
    return Listing(items=await product.state.kinds(who))


@routes.post("/resolve")
@raises(OverLimit, HostMoved)
async def resolve_state(body: RowsToResolve, who: Caller, product: Product) -> Listing[Resolved]:
    """Read the organization's rows that refs name, in their order; what is not there is left out."""
    return Listing(items=await product.state.resolve(who, body.refs))
