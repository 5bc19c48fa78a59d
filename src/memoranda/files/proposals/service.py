"""The verbs of proposed changes of files: propose one, look at them, apply or discard them."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, organization_of
from memoranda.files import permitted
from memoranda.files.body import Body, body_input, hash_input
from memoranda.files.models import (
    ContextFile,
    FileProposal,
    FileProposalStatus,
    Named,
    ProposedChange,
)
from memoranda.files.proposals import deciding, store
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, check_storable, choice_input
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 200
_LISTING: Final = "proposed changes of files"


def _nobody(_: UUID) -> None:
    """Listen to nothing."""


@checks_shapes
class FileProposals:
    """Changes of context files that wait until an owner applies or discards them.

    `changed` is called with the organization after the commit of each change.
    """

    def __init__(self, storage: Storage, changed: Callable[[UUID], None] = _nobody) -> None:
        self._storage = storage
        self._changed = changed

    async def propose(
        self,
        who: Principal,
        name: str,
        body: str,
        expected_hash: str,
        *,
        agent: UUID | str | None = None,
        run_id: UUID | None = None,
        conversation_id: UUID | None = None,
    ) -> ProposedChange:
        """Propose what a file is to say; the answer shows what would change. Proposed again, it waits once.

        An agent proposes changes of the organization's files and of its own. Raises `FileChanged`,
        `FileTooLarge`, `SecretFound`, `Invalid` where nothing would change, `FileProposalsFull`, and as
        the verbs of files do.
        """
        organization = organization_of(who)
        if agent is not None:
            check_storable("agent", str(agent))
        said, expected = body_input(body), hash_input("expected_hash", expected_hash)
        proposed = await self._storage.write(
            organization,
            _propose,
            who,
            Named(name, agent),
            said,
            expected,
            run_id=run_id,
            conversation_id=conversation_id,
        )
        self._changed(organization)
        return proposed.change

    async def page(
        self,
        who: Principal,
        *,
        status: FileProposalStatus | str = FileProposalStatus.WAITING,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[FileProposal]:
        """Proposed changes without their texts, the newest first, at most `limit` (1 to 200).

        Owners and readers see all, members and agents what they proposed themselves. Raises
        `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_FILES)
        said = choice_input("status", status, FileProposalStatus)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        found = await self._storage.read(
            organization,
            store.page,
            said,
            before,
            limit + 1,
            user_id=who.user_id if who.role is Role.MEMBER else None,
            agent_id=who.agent_id if who.role is Role.AGENT else None,
        )
        return cut_page(_LISTING, found, limit)

    async def get(self, who: Principal, proposal_id: UUID) -> ProposedChange:
        """A proposed change, with its text and what it would change while it waits. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_FILES)
        return await self._storage.read(organization, deciding.get, who, proposal_id)

    async def apply(
        self, who: Principal, proposal_id: UUID, *, expected_hash: str | None = None
    ) -> ContextFile:
        """Write what was proposed, as the person who applies it. For owners.

        Raises `NotFound`, `Conflict` where it is decided already, and `FileChanged`, with what the file
        says now, where it changed since: the change waits on, and is applied over that text by its hash.
        """
        organization = organization_for(who, Permission.READ_FILES)
        expected = None if expected_hash is None else hash_input("expected_hash", expected_hash)
        written = await self._storage.write(
            organization, deciding.apply, who, proposal_id, expected
        )
        self._changed(organization)
        return written

    async def discard(self, who: Principal, proposal_id: UUID) -> FileProposal:
        """Let a change not be done; nothing of its text is kept. For owners. Raises as `apply`."""
        organization = organization_for(who, Permission.READ_FILES)
        discarded = await self._storage.write(organization, deciding.discard, who, proposal_id)
        self._changed(organization)
        return discarded


def _propose(
    tx: Transaction,
    who: Principal,
    named: Named,
    body: Body,
    expected: str,
    *,
    run_id: UUID | None,
    conversation_id: UUID | None,
) -> deciding.Proposed:
    place = permitted.place_of(tx, who, named)
    return deciding.propose(
        tx, who, place, body, expected, run_id=run_id, conversation_id=conversation_id
    )
