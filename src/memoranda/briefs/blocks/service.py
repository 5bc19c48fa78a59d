"""Blocks beside runs: read, kept, and compared with what is built next."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.briefs.blocks import store
from memoranda.briefs.blocks.models import RunBlock
from memoranda.briefs.blocks.reuse import stable_prefix
from memoranda.briefs.blocks.store import Kept
from memoranda.briefs.models import ContextBrief, ContextPolicy
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Erased, Gone, NotFound, StorageBusy

TRIES: Final = 3
KEPT_FOR: Final = timedelta(days=90)
"""How long the text of a block is kept after its run has ended, unless a setting says otherwise."""
PRUNED_AT_ONCE: Final = 200
Build = Callable[[], Awaitable[ContextBrief]]


class Blocks:
    """The blocks of an organization's runs; whoever calls has asked who may."""

    def __init__(self, storage: Storage, kept_for: timedelta = KEPT_FOR) -> None:
        self._storage = storage
        self._kept_for = kept_for

    async def prune(self, organization: UUID) -> int:
        """Take the text of some blocks that were kept long enough; how many, and 0 when none is left."""
        return await self._storage.write(organization, _prune, self._kept_for)

    async def latest(self, organization: UUID, run_id: UUID, upto: int) -> Kept | None:
        """The newest block of the run that was built for that stage or one before it."""
        return await self._storage.read(organization, store.latest, run_id, upto)

    async def previous(
        self, organization: UUID, kept: Kept | None, conversation_id: UUID | None
    ) -> str | None:
        """The text that comes before: of the run's own block, or of the conversation's last one."""
        if kept is not None:
            return None if kept.brief is None or kept.pruned else kept.brief.text
        if conversation_id is None:
            return None
        return await self._storage.read(organization, store.last_of_conversation, conversation_id)

    async def build(
        self,
        organization: UUID,
        run_id: UUID,
        stage: int,
        policy: ContextPolicy,
        build: Build,
        *,
        conversation_id: UUID | None,
        replace: bool,
    ) -> tuple[Kept, bool]:
        """Build a block and keep it; the one that is kept then, and whether it is this one.

        It is built again where a memory in it is erased meanwhile.
        """
        for _ in range(TRIES):
            brief = await build()
            kept = await self._storage.write(
                organization,
                store.keep,
                run_id,
                stage,
                brief,
                policy,
                conversation_id=conversation_id,
                replace=replace,
            )
            if kept is not None:
                return kept, kept.brief is brief
        raise StorageBusy(
            "What the block would hold was being erased. Nothing was kept: try again."
        )


def replayed(run_id: UUID, kept: Kept | None) -> None:
    """Raise `Gone` where a run would be given a block whose text is no longer kept: it must not run without."""
    if kept is not None and kept.pruned:
        raise Gone(
            "The text of this block was kept for as long as blocks are, and is gone. What it was made of "
            "can still be looked at: read the block itself.",
            run_id=str(run_id),
            stage=kept.stage,
        )


def shown(
    run_id: UUID, kept: Kept | None, *, before: str | None, built: bool, explain: bool
) -> RunBlock:
    """The block as its reader is told of it. Raises `NotFound` where there is none, and `Erased`."""
    if kept is None:
        raise NotFound(
            f"The run {run_id} has no block at that stage: build a brief for it first.",
            run_id=str(run_id),
        )
    if kept.brief is None:
        raise Erased(
            "This block held what has been erased since, so its text is gone too. "
            "A run that goes on can be built another.",
            run_id=str(run_id),
            stage=kept.stage,
        )
    brief = kept.brief
    prefix = None if before is None else stable_prefix(before, brief.text)
    changes = {"stable_prefix_bytes": prefix, "explain": brief.explain if explain else None}
    return RunBlock(
        run_id=kept.run_id,
        stage=kept.stage,
        built_at=kept.built_at,
        built=built,
        pruned=kept.pruned,
        policy=kept.policy,
        brief=brief.model_copy(update=changes),
    )


def _prune(tx: Transaction, kept_for: timedelta) -> int:
    return store.prune(tx, tx.now - kept_for, PRUNED_AT_ONCE)
