"""Briefs, and the context policies that shape them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memoranda.briefs.models import ContextBrief, PublishedPolicy
from memoranda.client.answers import Listing, Subject
from memoranda.client.call import Call, Id, Policy, given


def build_brief(
    query: str,
    *,
    subject: Subject | None = None,
    entities: Sequence[Any] = (),
    policy: Policy | None = None,
    policy_name: str | None = None,
    run_id: Id | None = None,
    conversation: Id | None = None,
    budget: int | None = None,
    as_of: datetime | None = None,
    explain: bool = False,
) -> Call[ContextBrief]:
    """Build a brief: the block of text that a run receives, and its account.

    Well-formed `entities` are used, and malformed ones left out.
    """
    return Call(
        "POST",
        "/v1/briefs",
        ContextBrief,
        body=given(
            subject=subject,
            query=query,
            entities=entities,
            policy=policy,
            policy_name=policy_name,
            run_id=run_id,
            conversation=conversation,
            budget=budget,
            as_of=as_of,
            explain=explain,
        ),
    )


def list_policies() -> Call[Listing[PublishedPolicy]]:
    """List the newest version of each policy."""
    return Call("GET", "/v1/policies", Listing[PublishedPolicy])


def publish_policy(name: str, policy: Policy) -> Call[PublishedPolicy]:
    """Publish a policy as the next version of its name."""
    return Call("POST", "/v1/policies", PublishedPolicy, body=given(name=name, policy=policy))


def get_policy(name: str, *, version: int | None = None) -> Call[PublishedPolicy]:
    """Get a policy in its newest version, or in the one asked for."""
    return Call(
        "GET",
        "/v1/policies/{name}",
        PublishedPolicy,
        at={"name": name},
        query=given(version=version),
    )
