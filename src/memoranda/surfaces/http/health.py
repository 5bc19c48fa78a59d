"""Routes that say whether this process lives, and whether it can serve."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from memoranda.storage import StorageBusy, StorageUnavailable
from memoranda.surfaces.http.operation import PublicOperation, raises
from memoranda.surfaces.http.product import Product

routes = APIRouter(tags=["health"], route_class=PublicOperation)


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """The process can serve: its database answers."""

    status: Literal["ready"] = "ready"


@routes.get("/healthz")
async def healthz() -> Health:
    """Say that the process lives."""
    return Health()


@routes.get("/readyz")
@raises(StorageBusy, StorageUnavailable)
async def readyz(product: Product) -> Readiness:
    """Say that the database answers."""
    await product.access.organization(product.owner)
    return Readiness()
