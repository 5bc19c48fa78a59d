"""The route that searches what was said in conversations."""

from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from memoranda.conversations.finding.models import ConversationAnswer
from memoranda.conversations.finding.service import MOST_RESULTS
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import NotFound

routes = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=Operation)


class SaidToFind(Body):
    """What to look for, and in whose conversations: those of a user, of an agent, or one alone."""

    query: str
    limit: Number = Field(default=8, ge=1, le=MOST_RESULTS)
    user_id: UUID | None = None
    agent_id: UUID | None = None
    conversation_id: UUID | None = None


@routes.post("/search")
@raises(NotFound)
async def search_conversations(
    body: SaidToFind, who: Caller, product: Product
) -> ConversationAnswer:
    """Find the messages that answer a query, best first."""
    return await product.conversation_search.search(
        who,
        body.query,
        user_id=body.user_id,
        agent_id=body.agent_id,
        conversation_id=body.conversation_id,
        limit=body.limit,
    )
