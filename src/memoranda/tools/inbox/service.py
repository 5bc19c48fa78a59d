"""The verbs of the inbox: list what waits for a person, and find out in which list an id stands."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.files.models import FileProposal, FileProposalStatus
from memoranda.files.proposals.service import FileProposals
from memoranda.memories.models import ProposalStatus
from memoranda.memories.proposals.service import Proposals
from memoranda.tools.approvals.service import Approvals
from memoranda.tools.inbox.models import Waiting, of_approval, of_change, of_proposal
from memoranda.tools.models import ApprovalStatus
from memoranda.words.cursor import make_cursor, read_cursor
from memoranda.words.errors import NotFound
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page

LISTING: Final = "the inbox"
PROPOSALS: Final = "waiting proposals"
APPROVALS: Final = "waiting approvals"
CHANGES: Final = "proposed changes of files"
"""What the three lists call themselves in their cursors; all of them go on below an id."""
MOST_LISTED: Final = 100


@checks_shapes
class Inbox:
    """Proposed memories, calls that wait, and proposed changes of files, as one list.

    Who may know what, and decide it, is for each of the three to say.
    """

    def __init__(self, proposals: Proposals, approvals: Approvals, changes: FileProposals) -> None:
        self._proposals = proposals
        self._approvals = approvals
        self._changes = changes

    async def page(
        self, who: Principal, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Waiting]:
        """What waits, the newest first, at most `limit` (1 to 100), each with the ways to decide it.

        Raises `Invalid` for a cursor that is not this list's.
        """
        check_count("limit", limit, most=MOST_LISTED)
        after = read_cursor(LISTING, cursor)
        proposals = await self._proposals.page(who, limit=limit + 1, cursor=_in(PROPOSALS, after))
        approvals = await self._approvals.page(who, limit=limit + 1, cursor=_in(APPROVALS, after))
        changes = await self._changes.page(who, limit=limit + 1, cursor=_in(CHANGES, after))
        found = [
            *(of_proposal(who, each) for each in proposals.items),
            *(of_approval(who, each) for each in approvals.items),
            *(of_change(who, each) for each in changes.items),
        ]
        found.sort(key=lambda each: each.id, reverse=True)
        return cut_page(LISTING, found, limit)

    async def find(self, who: Principal, waiting_id: UUID) -> Waiting | None:
        """What waits under this id, in whichever list; None where nothing does that the caller may know."""
        for look in (self._proposal, self._approval, self._change):
            try:
                found = await look(who, waiting_id)
            except NotFound:
                continue
            return found
        return None

    async def _proposal(self, who: Principal, id_: UUID) -> Waiting | None:
        proposal = await self._proposals.get(who, id_)
        waits = proposal.status is ProposalStatus.WAITING
        return of_proposal(who, proposal) if waits else None

    async def _approval(self, who: Principal, id_: UUID) -> Waiting | None:
        approval = await self._approvals.get(who, id_)
        return of_approval(who, approval) if approval.status is ApprovalStatus.WAITING else None

    async def _change(self, who: Principal, id_: UUID) -> Waiting | None:
        change = await self._changes.get(who, id_)
        summary = {name: getattr(change, name) for name in FileProposal.model_fields}
        waits = change.status is FileProposalStatus.WAITING
        return of_change(who, FileProposal(**summary)) if waits else None


def _in(listing: str, after: UUID | None) -> str | None:
    return None if after is None else make_cursor(listing, after)
