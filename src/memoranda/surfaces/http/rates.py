"""How often a route may be asked: said at the route, counted for its caller."""

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request

from memoranda.access.rates.service import Rate
from memoranda.surfaces.http.product import product

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def counted(rate: Rate | None) -> Callable[[Endpoint], Endpoint]:
    """State under which rate a route's requests are counted; None says that they are not."""

    def stated(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, "rate", rate)  # noqa: B010 - a function has no such attribute to a type checker
        return endpoint

    return stated


def rate_of(endpoint: Callable[..., Any]) -> Rate | None:
    """What `counted` stated; None where it stated nothing."""
    return getattr(endpoint, "rate", None)


async def count(request: Request, rate: Rate | None) -> None:
    """Count a request whose caller is known. Raises `TooManyRequests`."""
    if rate is not None:
        await product(request).rates.count(request.state.caller, rate)
