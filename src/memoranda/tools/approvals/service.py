"""The verbs of approvals: list, approve and deny what agents ask for."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.memories.announce import Changed, announce, nobody
from memoranda.memories.races import write_again
from memoranda.storage import Storage, Transaction
from memoranda.tools.approvals import deciding, store
from memoranda.tools.models import Approval, ApprovalStatus
from memoranda.tools.registry import ToolRegistry
from memoranda.words.cursor import read_cursor
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, choice_input
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 200


@checks_shapes
class Approvals:
    """Calls of agents that wait for a person. An owner decides all of them, a member its user's, an agent none.

    `changed` is called with the organization after the commit of each decision. What is decided
    stays to be looked at for as long as receipts are `kept`, or for good.
    """

    def __init__(
        self,
        storage: Storage,
        registry: ToolRegistry,
        changed: Changed = nobody,
        *,
        kept: timedelta | None = None,
    ) -> None:
        self._storage = storage
        self._registry = registry
        self._changed = changed
        self._kept = kept

    async def page(
        self,
        who: Principal,
        *,
        status: ApprovalStatus = ApprovalStatus.WAITING,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Approval]:
        """Approvals of one status that the caller may know, the newest first, at most `limit` (1 to 200).

        A member sees what was asked for its user, an agent what it asked itself.
        Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_TOOL_CALLS)
        check_count("limit", limit, most=MOST_LISTED)
        wanted = choice_input("status", status, ApprovalStatus)
        listing = f"{wanted} approvals"
        before = read_cursor(listing, cursor)
        found = await self._storage.read(
            organization, deciding.page, who, wanted, before, limit + 1
        )
        return cut_page(listing, found, limit)

    async def get(self, who: Principal, approval_id: UUID) -> Approval:
        """An approval, whatever became of it. Raises `NotFound`, also for one that is not for the caller."""
        organization = organization_for(who, Permission.READ_TOOL_CALLS)
        return await self._storage.read(organization, deciding.get, who, approval_id)

    async def approve(self, who: Principal, approval_id: UUID) -> Approval:
        """Let a waiting call be done now, as the agent who asked for it.

        Answers it as `approved`, with what was done; or as `failed`, with why not, where the
        tool refuses it by now: the memory has changed or is forgotten, or the agent may not
        call the tool any more. Decided it is either way, and what was asked for is dropped. Raises
        `NotFound`, `Conflict` for what is decided already, `Refused`; where the database can't
        serve, it still waits.
        """
        organization = organization_for(who, Permission.DECIDE_TOOLS)
        try:
            decided = await write_again(
                self._storage, organization, deciding.approve, who, approval_id, self._registry
            )
        except deciding.NotDone as not_done:
            decided = await self._storage.write(
                organization, deciding.fail, who, approval_id, not_done.refused
            )
        announce(self._changed, organization)
        return decided

    async def deny(self, who: Principal, approval_id: UUID) -> Approval:
        """Let a waiting call not be done; what was asked for is dropped. Raises as `approve` does."""
        organization = organization_for(who, Permission.DECIDE_TOOLS)
        denied = await self._storage.write(organization, deciding.deny, who, approval_id)
        announce(self._changed, organization)
        return denied

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of what was decided longer ago than it is kept; how many went."""
        if self._kept is None:
            return 0
        return await self._storage.write(organization_id, _prune, self._kept)


def _prune(tx: Transaction, kept: timedelta) -> int:
    return store.prune(tx, tx.now - kept)
