"""Briefs, for scripts: build one, explain it, and publish what shapes it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memoranda.briefs.models import ContextBrief, ContextPolicy, PublishedPolicy
from memoranda.sync.opened import Opened, Room


class BriefVerbs(Opened):
    """What a run may know, as one block of text."""

    def brief(
        self,
        query: str,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        trigger_id: UUID | None = None,
        policy: ContextPolicy | Mapping[str, Any] | None = None,
        policy_name: str | None = None,
        entities: object = (),
        budget: int | None = None,
        run_id: UUID | None = None,
        conversation: UUID | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> ContextBrief:
        """Build a brief, of now or as of a past time; see `Briefs.build`. `explain` says of each item why."""
        return self._call(
            lambda at: at.briefs.build(
                at.owner,
                query,
                agent_id=agent_id,
                user_id=user_id,
                trigger_id=trigger_id,
                policy=policy,
                policy_name=policy_name,
                entities=entities,
                budget=budget,
                run_id=run_id,
                conversation=conversation,
                as_of=as_of,
                explain=explain,
            )
        )


class Policies(Room):
    """The context policies of the organization; each verb is that of `Briefs`."""

    def publish(self, name: str, policy: Mapping[str, Any] | ContextPolicy) -> PublishedPolicy:
        """Add the next version of a policy; see `Briefs.publish`."""
        return self._call(lambda at: at.briefs.publish(at.owner, name, policy))

    def get(self, name: str, version: int | None = None) -> PublishedPolicy:
        """A policy, in its newest version where none is named; see `Briefs.policy`."""
        return self._call(lambda at: at.briefs.policy(at.owner, name, version))

    def list(self) -> Sequence[PublishedPolicy]:
        """The newest version of each policy; see `Briefs.policies`."""
        return self._call(lambda at: at.briefs.policies(at.owner))
