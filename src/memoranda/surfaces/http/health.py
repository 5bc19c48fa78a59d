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
    """The process can serve: its database answers.

    `application_database` says whether the application's own could be read when it was last
    asked. It is left out where none is declared, and nothing but application state waits for it.
    """

    status: Literal["ready"] = "ready"
    application_database: Literal["answers", "away"] | None = None


@routes.get("/healthz")
async def healthz() -> Health:
    """Say that the process lives."""
    return Health()


@routes.get("/readyz", response_model_exclude_none=True)
@raises(StorageBusy, StorageUnavailable)
async def readyz(product: Product) -> Readiness:
    """Say that the database answers."""
    await product.access.organization(product.owner)
    if not product.state.declared:
        return Readiness()
    return Readiness(application_database="away" if product.state.fault else "answers")
