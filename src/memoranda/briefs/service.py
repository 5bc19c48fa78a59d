"""The verbs of briefs: publish a policy, build a brief."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, require, subject_of
from memoranda.access.store import check_subject
from memoranda.briefs import store
from memoranda.briefs.blocks.models import RunBlock
from memoranda.briefs.blocks.reuse import builds, stable_prefix
from memoranda.briefs.blocks.service import KEPT_FOR, Blocks, replayed, shown
from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.models import (
    MOST_TOKENS,
    ContextBrief,
    ContextPolicy,
    ContextRequest,
    PublishedPolicy,
)
from memoranda.briefs.policies import (
    DEFAULT_NAME,
    FRONT_DOOR_NAME,
    PLATFORM_POLICIES,
    check_policy,
    default_policy,
)
from memoranda.briefs.registry import ContextSourceRegistry
from memoranda.conversations.service import Conversations
from memoranda.runs.models import Run
from memoranda.runs.service import Runs
from memoranda.storage import Row, Storage, Transaction
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, check_length, check_storable, time_input
from memoranda.words.ref import parse_refs
from memoranda.words.subject import ContextSubject

LONGEST_QUERY: Final = 20_000
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


@checks_shapes
class Briefs:
    """Builds briefs for subjects under published policies."""

    def __init__(
        self,
        storage: Storage,
        runs: Runs,
        conversations: Conversations,
        registry: ContextSourceRegistry,
        builder: DefaultContextBuilder,
        *,
        blocks_kept: timedelta = KEPT_FOR,
    ) -> None:
        self._storage = storage
        self._runs = runs
        self._conversations = conversations
        self._registry = registry
        self._builder = builder
        self._blocks = Blocks(storage, blocks_kept)

    async def build(
        self,
        who: Principal,
        query: str,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        trigger_id: UUID | None = None,
        entities: object = (),
        policy: ContextPolicy | Mapping[str, Any] | None = None,
        policy_name: str | None = None,
        budget: int | None = None,
        run_id: UUID | None = None,
        conversation: UUID | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> ContextBrief:
        """Read every source of the policy and pack what fits.

        `policy` is judged as if it were published; `policy_name` names a published one, and
        with neither the default policy uses every source that has a reader. `budget` replaces
        the policy's total, in tokens. Malformed `entities` are dropped, and where none is given
        those of the run's input are used.

        With `as_of` it is what would have been built at that time, under the policy as it is
        now: each source says in `times` whether it can tell of then. One that can't, or has lost what
        it would tell, is unavailable, and the text says so; nothing of the present stands in.
        That is for people: an agent is told nothing that has been forgotten.
        Raises `Refused` for a subject that the caller may not act for, `NotFound`,
        `PolicyRejected`, `Invalid` for a time to come, `RequiredContextSourceError`, and `Gone` where
        a required source can't tell of that time.
        """
        require(who, Permission.BUILD_BRIEFS)
        if as_of is not None:
            require(who, Permission.READ_PAST)
        subject = subject_of(who, agent_id, user_id, trigger_id)
        _check_query(query)
        _check_front_door(subject, policy_name)
        chosen = await self._choose(who, policy, policy_name, budget)
        run = await self._check(who, subject, run_id, conversation)
        then = await self._past(subject.organization_id, as_of)
        request = _request(subject, query, entities, run, conversation, as_of=then)
        brief = await self._builder.build(request, chosen, explain=explain)
        if then is not None:
            return brief
        organization = subject.organization_id
        kept = await self._blocks.latest(organization, run.id, run.stage) if run else None
        before = await self._blocks.previous(organization, kept, conversation)
        if before is None:
            return brief
        return brief.model_copy(update={"stable_prefix_bytes": stable_prefix(before, brief.text)})

    async def for_run(
        self,
        who: Principal,
        run_id: UUID,
        query: str,
        *,
        stage: int | None = None,
        refresh: bool | None = None,
        entities: object = (),
        policy: ContextPolicy | Mapping[str, Any] | None = None,
        policy_name: str | None = None,
        budget: int | None = None,
        conversation: UUID | None = None,
        explain: bool = False,
    ) -> RunBlock:
        """The block for a stage of a run, which is its present one where none is named; it is kept beside the run.

        The run's first stage builds it. A later one, which begins after a wait, builds another where
        the policy says `refresh_on_resume`, and else is given the block before it, byte for byte, as
        is whoever asks again. A stage that is over, or a run that ended, builds nothing; the stage of
        a run that failed may be built another. `refresh` overrules the policy: True builds, False
        does not where there is a block. The brief is for the run's own subject, and about the
        rows of its input where no `entities` are given.

        Raises what `build` does, `NotFound` where there is no block and nothing is built,
        `Erased` for one that held what has been erased since, and `Gone` for one whose text is no
        longer kept.
        """
        organization = organization_for(who, Permission.WRITE_RUNS)
        require(who, Permission.BUILD_BRIEFS)
        _check_query(query)
        run = await self._runs.own(who, run_id)
        subject = subject_of(who, run.agent_id, run.user_id, run.trigger_id)
        _check_front_door(subject, policy_name)
        chosen = await self._choose(who, policy, policy_name, budget)
        await self._check(who, subject, None, conversation)
        at = _stage(run, stage)
        kept = await self._blocks.latest(organization, run_id, at)
        before = await self._blocks.previous(organization, kept, conversation)
        there = kept.stage if kept is not None and kept.brief is not None else None
        built = builds(run, at, there, refresh=refresh, refresh_on_resume=chosen.refresh_on_resume)
        if built:
            request = _request(subject, query, entities, run, conversation)
            kept, built = await self._blocks.build(
                organization,
                run_id,
                at,
                chosen,
                lambda: self._builder.build(request, chosen, explain=True),
                conversation_id=conversation,
                replace=there == at,
            )
        replayed(run_id, kept)
        return shown(run_id, kept, before=before, built=built, explain=explain)

    async def block(
        self, who: Principal, run_id: UUID, *, stage: int | None = None, explain: bool = False
    ) -> RunBlock:
        """The block that a stage of the run was given (its present one where none is named), as it was kept.

        Raises `NotFound` where there is none, and `Erased` for one that held what has been erased
        since. What its explain says is what was found when it was built. One that is `pruned` says
        of each row what became of it, and no longer what it said.
        """
        organization = organization_for(who, Permission.READ_RUNS)
        run = await self._runs.own(who, run_id)
        kept = await self._blocks.latest(organization, run_id, _stage(run, stage))
        return shown(run_id, kept, before=None, built=False, explain=explain)

    async def prune_blocks(self, organization_id: UUID) -> int:
        """Take the text of some blocks of runs that ended long ago; how many, and 0 when none is left."""
        return await self._blocks.prune(organization_id)

    async def publish(
        self, who: Principal, name: str, policy: Mapping[str, Any] | ContextPolicy
    ) -> PublishedPolicy:
        """Add the next version of an organization's policy; briefs that name it use it from then on.

        Raises `PolicyRejected` with every reason, each at its own path.
        """
        organization_id = organization_for(who, Permission.PUBLISH_POLICIES)
        if not _NAME.fullmatch(name) or name in {DEFAULT_NAME, *PLATFORM_POLICIES}:
            raise Invalid(
                "A policy's name is lower-case letters, digits, '_', '.' and '-', at most 64, "
                f"and not one of the product's own ({', '.join(self._own())}).",
                field="name",
            )
        checked = check_policy(policy, self._registry.option_schemas)
        row = await self._storage.write(
            organization_id, store.publish, name, checked.model_dump(mode="json"), who.user_id
        )
        return _published(row)

    async def policies(self, who: Principal) -> list[PublishedPolicy]:
        """The product's own policies, then the newest version of each that the organization published."""
        organization_id = organization_for(who, Permission.READ_POLICIES)
        rows = await self._storage.read(organization_id, store.newest)
        own = [
            PublishedPolicy(name=n, version=0, policy=p, created_at=None)
            for n, p in self._own().items()
        ]
        return own + [_published(row) for row in rows]

    async def policy(
        self, who: Principal, name: str, version: int | None = None
    ) -> PublishedPolicy:
        """One policy, in its newest version where none is named. Raises `NotFound`."""
        organization_id = organization_for(who, Permission.READ_POLICIES)
        own = self._own().get(name)
        if own is not None and version in {None, 0}:
            return PublishedPolicy(name=name, version=0, policy=own, created_at=None)
        # A name that nothing can be published under is not asked for: a database may not even hold it.
        known = _NAME.fullmatch(name) is not None
        row = (
            await self._storage.read(organization_id, store.find, name, version) if known else None
        )
        if row is None:
            which = "" if version is None else f" and version {version}"
            # The name is not repeated: a model asks for policies too, and no refusal gives its words back.
            raise NotFound(
                f"There is no policy of that name{which}: list the policies to see which there are."
            )
        return _published(row)

    async def _check(
        self,
        who: Principal,
        subject: ContextSubject,
        run_id: UUID | None,
        conversation: UUID | None,
    ) -> Run | None:
        """The run. Raises `NotFound` for what this caller can't name: a brief never just leaves it out."""
        if subject.user_id is not None or subject.agent_id is not None:
            await self._storage.read(
                subject.organization_id,
                check_subject,
                user_id=subject.user_id,
                agent_id=subject.agent_id,
            )
        run = None if run_id is None else await self._runs.own(who, run_id)
        if conversation is not None:
            await self._conversations.get(who, conversation)
            # The source reads it for the subject: an owner sees more than that one may be told.
            await self._conversations.recent(subject, conversation, 1)
        return run

    async def _past(self, organization: UUID, as_of: datetime | None) -> datetime | None:
        then = time_input("as_of", as_of)
        if then is not None and then > await self._storage.read(organization, _now):
            raise Invalid(
                "as_of lies in the future, of which nothing is known: name a past time, or leave it out.",
                field="as_of",
            )
        return then

    def _own(self) -> dict[str, ContextPolicy]:
        return {DEFAULT_NAME: default_policy(self._registry.names), **PLATFORM_POLICIES}

    async def _choose(
        self,
        who: Principal,
        policy: ContextPolicy | Mapping[str, Any] | None,
        name: str | None,
        budget: int | None,
    ) -> ContextPolicy:
        if policy is not None and name is not None:
            raise Invalid("Give a policy or the name of one, not both.", field="policy")
        if budget is not None:
            check_count("budget", budget, most=MOST_TOKENS)
        if policy is not None:
            chosen = check_policy(policy, self._registry.option_schemas)
        elif name is not None:
            chosen = (await self.policy(who, name)).policy
        else:
            return default_policy(self._registry.names, *(() if budget is None else (budget,)))
        return (
            chosen if budget is None else chosen.model_copy(update={"total_token_budget": budget})
        )


def _published(row: Row) -> PublishedPolicy:
    return PublishedPolicy(
        name=row.name,
        version=row.version,
        policy=ContextPolicy.model_validate(row.policy),
        created_at=row.created_at,
    )


def _check_query(query: str) -> None:
    check_storable("query", query)
    check_length("query", query, LONGEST_QUERY)


def _check_front_door(subject: ContextSubject, policy_name: str | None) -> None:
    if policy_name == FRONT_DOOR_NAME and subject.agent_id is not None:
        raise Invalid(
            "The policy front_door is for a turn before any agent runs: leave the agent out, "
            "or use another policy.",
            field="policy_name",
        )


def _request(
    subject: ContextSubject,
    query: str,
    entities: object,
    run: Run | None,
    conversation: UUID | None,
    *,
    as_of: datetime | None = None,
) -> ContextRequest:
    named = list(entities) if isinstance(entities, Sequence) else []
    return ContextRequest(
        subject=subject,
        query=query,
        entities=run.entities if run and not named else parse_refs(named)[0],
        run_id=run.id if run else None,
        conversation_id=conversation,
        as_of=as_of,
    )


def _now(tx: Transaction) -> datetime:
    return tx.now


def _stage(run: Run, stage: int | None) -> int:
    if stage is None:
        return run.stage
    if not 0 <= stage <= run.stage:
        raise Invalid(
            f"The run is in its stage {run.stage}: stage is a number from 0 to that.", field="stage"
        )
    return stage
