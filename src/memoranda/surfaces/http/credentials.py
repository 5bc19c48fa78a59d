"""Reads the credential of a request, `Authorization: Bearer KEY`, and finds out whose it is."""

from typing import Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from memoranda.access.models import Principal
from memoranda.surfaces.http.product import product
from memoranda.words.errors import Unauthenticated

BEARER: Final = HTTPBearer(
    auto_error=False, scheme_name="key", description="A key of `memoranda keys create`."
)


async def sign_in(request: Request) -> None:
    """Find the caller before anything else of the request is read. Raises `Unauthenticated`."""
    credentials = await BEARER(request)
    if credentials is None:
        raise Unauthenticated(
            "This route needs a key: send `Authorization: Bearer KEY`. "
            "Make one with: memoranda keys create."
        )
    request.state.caller = await product(request).access.authenticate(credentials.credentials)


def _caller(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
) -> Principal:
    found: Principal = request.state.caller
    return found


Caller = Annotated[Principal, Depends(_caller)]
"""Who asks: what a route hands on to the service that it calls."""
