"""Routes that take memories away: forget all, erase one, erase a user's."""

from uuid import UUID

from fastapi import APIRouter

from memoranda.access.rates.service import Rate
from memoranda.memories.errors import TooOften
from memoranda.memories.removal.models import Erased
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import NotFound, ReadOnly

routes = APIRouter(prefix="/v1", tags=["memories"], route_class=Operation)


class Confirmation(Body):
    """`FORGET ALL`, letter for letter."""

    confirm: str


class UserToErase(Body):
    """Whose everything is to go."""

    user_id: UUID


class Forgotten(Body):
    """How many memories were forgotten."""

    forgotten: int


@routes.post("/memories/forget-all")
@raises(TooOften, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def forget_all(body: Confirmation, who: Caller, product: Product) -> Forgotten:
    """Forget every active memory and discard every waiting proposal, and nothing else."""
    return Forgotten(forgotten=await product.removal.forget_all(who, body.confirm))


@routes.post("/memories/erase-user")
@raises(NotFound, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def erase_user(body: UserToErase, who: Caller, product: Product) -> Erased:
    """Erase all that is for one user, at once and for good: memories and proposals, chats, conversations, section of the dossier, and what agent frameworks keep for it."""
    return await product.removal.erase_user(who, body.user_id)


@routes.post("/memories/{memory_id}/erase")
@raises(ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def erase_memory(memory_id: UUID, who: Caller, product: Product) -> Erased:
    """Erase a memory and its history, at once and for good."""
    return await product.removal.erase(who, memory_id)
