"""Routes for briefs, and for the context policies that shape them."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from memoranda.briefs.models import MOST_TOKENS, ContextBrief, PublishedPolicy
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Flag, Listing, Moment, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import (
    Gone,
    NotFound,
    PolicyRejected,
    ReadOnly,
    RequiredContextSourceError,
)

routes = APIRouter(prefix="/v1", tags=["briefs"], route_class=Operation)


class SubjectToServe(Body):
    """For whom a brief is built, within the organization of the key."""

    agent_id: UUID | None = None
    user_id: UUID | None = None
    trigger_id: UUID | None = None


class BriefToBuild(Body):
    """What a brief is asked for. A policy is named, or stated here, or the default one."""

    subject: SubjectToServe = SubjectToServe()
    query: str
    entities: list[Any] = Field(
        default=[],
        description="Rows that the request is about, each with `kind`, `id` and perhaps `label`; "
        "a malformed one is left out.",
    )
    policy: dict[str, Any] | None = None
    policy_name: str | None = None
    run_id: UUID | None = None
    conversation: UUID | None = None
    budget: Number | None = Field(
        default=None, ge=1, le=MOST_TOKENS, description="In tokens, for all."
    )
    as_of: Moment | None = Field(
        default=None,
        description="Build it as of that past time; `times` says of each source whether it can tell of it.",
    )
    explain: Flag = False


class PolicyToPublish(Body):
    """A policy and the name that it is published under."""

    name: str
    policy: dict[str, Any]


@routes.post("/briefs")
@raises(NotFound, PolicyRejected, RequiredContextSourceError, Gone)
async def build_brief(body: BriefToBuild, who: Caller, product: Product) -> ContextBrief:
    """Build a brief: the block of text that a run receives, and its account.

    Well-formed `entities` are used, and malformed ones left out.
    """
    return await product.briefs.build(
        who,
        body.query,
        agent_id=body.subject.agent_id,
        user_id=body.subject.user_id,
        trigger_id=body.subject.trigger_id,
        entities=body.entities,
        policy=body.policy,
        policy_name=body.policy_name,
        run_id=body.run_id,
        conversation=body.conversation,
        budget=body.budget,
        as_of=body.as_of,
        explain=body.explain,
    )


@routes.post("/policies", status_code=201)
@raises(PolicyRejected, ReadOnly)
async def publish_policy(body: PolicyToPublish, who: Caller, product: Product) -> PublishedPolicy:
    """Publish a policy as the next version of its name."""
    return await product.briefs.publish(who, body.name, body.policy)


@routes.get("/policies")
async def list_policies(who: Caller, product: Product) -> Listing[PublishedPolicy]:
    """List the newest version of each policy."""
    return Listing(items=list(await product.briefs.policies(who)))


@routes.get("/policies/{name}")
async def get_policy(
    name: str,
    who: Caller,
    product: Product,
    version: Annotated[int | None, Query(ge=1, le=LARGEST)] = None,
) -> PublishedPolicy:
    """Get a policy in its newest version, or in the one asked for."""
    return await product.briefs.policy(who, name, version)
