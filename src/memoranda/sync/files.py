"""Context files and proposed changes of them, for scripts."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memoranda.files.models import (
    ContextFile,
    ErasedRevision,
    FileProposal,
    FileProposalStatus,
    FileRevision,
    LoadMode,
    ProposedChange,
    RevisionText,
)
from memoranda.instructions.models import ListedFiles
from memoranda.sync.opened import Room
from memoranda.words.page import Page


class Files(Room):
    """The organization's files, and with `agent` an agent's; each verb is that of `Files`."""

    def list(self, *, agent: UUID | str | None = None) -> ListedFiles:
        """The files without their texts, and how much of them arrives; see `LoadMeter.files`."""
        return self._call(lambda at: at.load_meter.files(at.owner, agent=agent))

    def get(self, name: str, *, agent: UUID | str | None = None) -> ContextFile:
        """A file as it stands; see `Files.get`."""
        return self._call(lambda at: at.files.get(at.owner, name, agent=agent))

    def write(
        self, name: str, body: str, expected_hash: str, *, agent: UUID | str | None = None
    ) -> ContextFile:
        """Write a body over the one with that hash; see `Files.write`."""
        return self._call(
            lambda at: at.files.write(at.owner, name, body, expected_hash, agent=agent)
        )

    def set_load_mode(self, name: str, mode: LoadMode | str) -> ContextFile:
        """Say how a file is loaded; see `Files.set_load_mode`."""
        return self._call(lambda at: at.files.set_load_mode(at.owner, name, mode))

    def history(
        self,
        name: str,
        *,
        agent: UUID | str | None = None,
        limit: int = 20,
        before: int | None = None,
    ) -> Sequence[FileRevision]:
        """What a file was, the newest state first; see `Files.history`."""
        return self._call(
            lambda at: at.files.history(at.owner, name, agent=agent, limit=limit, before=before)
        )

    def revision(self, name: str, number: int, *, agent: UUID | str | None = None) -> RevisionText:
        """One state with its text; see `Files.revision`."""
        return self._call(lambda at: at.files.revision(at.owner, name, number, agent=agent))

    def as_of(self, name: str, time: datetime, *, agent: UUID | str | None = None) -> RevisionText:
        """What a file was at that time; see `Files.as_of`."""
        return self._call(lambda at: at.files.as_of(at.owner, name, time, agent=agent))

    def restore(
        self,
        name: str,
        number: int,
        *,
        agent: UUID | str | None = None,
        expected_hash: str | None = None,
    ) -> ContextFile:
        """Write again what a revision said; see `Files.restore`."""
        return self._call(
            lambda at: at.files.restore(
                at.owner, name, number, agent=agent, expected_hash=expected_hash
            )
        )

    def erase_revision(
        self, name: str, number: int, *, agent: UUID | str | None = None
    ) -> ErasedRevision:
        """Take away for good what an earlier revision said; see `Files.erase_revision`."""
        return self._call(lambda at: at.files.erase_revision(at.owner, name, number, agent=agent))


class FileProposals(Room):
    """Changes of files that wait; each verb is that of `FileProposals`."""

    def propose(
        self, name: str, body: str, expected_hash: str, *, agent: UUID | str | None = None
    ) -> ProposedChange:
        """Propose what a file is to say; see `FileProposals.propose`."""
        return self._call(
            lambda at: at.file_proposals.propose(at.owner, name, body, expected_hash, agent=agent)
        )

    def list(
        self,
        *,
        status: FileProposalStatus | str = FileProposalStatus.WAITING,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[FileProposal]:
        """A page of changes, the newest first; see `FileProposals.page`."""
        return self._call(
            lambda at: at.file_proposals.page(at.owner, status=status, limit=limit, cursor=cursor)
        )

    def get(self, proposal_id: UUID) -> ProposedChange:
        """A change with what it would change; see `FileProposals.get`."""
        return self._call(lambda at: at.file_proposals.get(at.owner, proposal_id))

    def apply(self, proposal_id: UUID, *, expected_hash: str | None = None) -> ContextFile:
        """Write what was proposed; see `FileProposals.apply`."""
        return self._call(
            lambda at: at.file_proposals.apply(at.owner, proposal_id, expected_hash=expected_hash)
        )

    def discard(self, proposal_id: UUID) -> FileProposal:
        """Let a change not be done; see `FileProposals.discard`."""
        return self._call(lambda at: at.file_proposals.discard(at.owner, proposal_id))
