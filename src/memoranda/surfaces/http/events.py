"""The route that tells what changes, as it changes: server-sent events."""

import json
from collections.abc import AsyncGenerator
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from memoranda.runs.events.models import Event, Mark, Reset
from memoranda.runs.events.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, log_defect
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.streams import HEADERS, RETRY_MS, EventStream, still_in

routes = APIRouter(prefix="/v1", tags=["events"], route_class=Operation)

LARGEST: Final = 2**63 - 1
_RESET: Final = (
    "Some of what came after the number that you gave is gone. "
    "Load what you show anew; what changes from now on is told."
)

Told = AsyncGenerator[Event | Mark | Reset, None]


@routes.get("/events", status_code=200, response_class=EventStream)
async def follow_events(
    request: Request,
    who: Caller,
    product: Product,
    *,
    after: Annotated[
        int | None,
        Query(ge=0, le=LARGEST, description="Begin after this number, and not with what is next."),
    ] = None,
    follow: Annotated[
        bool, Query(description="Whether to go on; false tells what there is and ends.")
    ] = True,
    last_event_id: Annotated[
        int | None,
        Header(
            alias="Last-Event-ID",
            ge=0,
            le=LARGEST,
            description="Where a client that comes back had been; goes before `after`.",
        ),
    ] = None,
) -> Response:
    """Tell what changes, in the order in which it changed, as server-sent events.

    The `id` of an event is its number. Its `data` is JSON: ids, counts and fixed words, and
    never a text. An `event: reset` says that some of what was asked for is gone.
    """
    place = after if last_event_id is None else last_event_id
    if not follow:
        return await _at_once(who, product, place)
    told = product.events.follow(who, place)
    # The first thing is awaited here, while an error can still be told as one.
    begun = await anext(told)
    return EventStream(_lines(request, told, begun), told)


async def _at_once(who: Caller, product: Product, place: int | None) -> Response:
    page = await product.events.page(who, place, limit=MOST_LISTED)
    first = [_written(Reset(page.number))] if page.reset else []
    lines = [*first, *map(_written, page.items), f"id: {page.number}\n\n"]
    return Response("".join(lines), headers=HEADERS, media_type=EventStream.media_type)


async def _lines(
    request: Request, told: Told, begun: Event | Mark | Reset
) -> AsyncGenerator[str, None]:
    """What is told, as the lines that are sent, until the caller's key opens nothing any more."""
    try:
        yield f"retry: {RETRY_MS}\n{_written(begun)}"
        place = begun.number
        async for each in told:
            if isinstance(each, Mark):
                if not await still_in(request):
                    return
                yield ": still here\n\n"
            if not isinstance(each, Mark) or each.number > place:
                yield _written(each)
            place = each.number
    except Exception as error:  # noqa: BLE001 - a defect must not tell the caller what it is
        log_defect(error, "follow_events")


def _written(each: Event | Mark | Reset) -> str:
    """One message. A mark has no data, so that clients only keep its id for when they come back."""
    match each:
        case Event():
            return f"id: {each.number}\nevent: {each.type}\ndata: {each.model_dump_json()}\n\n"
        case Reset():
            said = json.dumps({"number": each.number, "detail": _RESET})
            return f"id: {each.number}\nevent: reset\ndata: {said}\n\n"
        case Mark():
            return f"id: {each.number}\n\n"
