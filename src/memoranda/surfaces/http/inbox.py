"""The route of the inbox: what waits for a person, in one list."""

from typing import Annotated

from fastapi import APIRouter, Query

from memoranda.access.rates.service import Rate
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation
from memoranda.surfaces.http.pages import Cursor
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.tools.inbox.models import Waiting
from memoranda.tools.inbox.service import MOST_LISTED
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["inbox"], route_class=Operation)


@routes.get("/inbox")
@counted(Rate.LISTS)
async def list_inbox(
    who: Caller,
    product: Product,
    *,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Waiting]:
    """List what waits for a person: proposed memories, calls of tools, and changes of files."""
    return await product.inbox.page(who, limit=limit, cursor=cursor)
