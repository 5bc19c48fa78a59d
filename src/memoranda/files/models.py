"""The values of context files: which ones there are, how each stands, and how it came to that."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

MOST_BYTES: Final = 65_536
"""Bytes of UTF-8 that a file may have."""
MOST_ALWAYS_LOADED: Final = 3
"""Workspace files that every run may be given whole."""


class WorkspaceFile(StrEnum):
    """The files that an organization has, each once."""

    ABOUT_YOU = "about-you"
    ORGANIZATION = "organization"
    PEOPLE = "people"
    GLOSSARY = "glossary"
    VOICE = "voice"
    ROSTER = "roster"


class AgentFile(StrEnum):
    """The files that an agent has, each once."""

    IDENTITY = "SOUL.md"
    ROLE = "AGENTS.md"
    NOTES = "NOTES.md"
    OPERATING_LOOP = "HEARTBEAT.md"
    TOOLS = "TOOLS.md"
    MANIFEST = "agent.yml"


class LoadMode(StrEnum):
    """Whether every run is given a workspace file, or an agent reads it when it needs it."""

    ALWAYS = "always"
    ON_DEMAND = "on_demand"


class AuthorKind(StrEnum):
    """Who writes."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


class Action(StrEnum):
    """What a revision came of."""

    CREATED = "created"
    WRITTEN = "written"
    RESTORED = "restored"
    APPLIED = "applied"
    MODE_CHANGED = "mode_changed"


TITLES: Final[Mapping[str, str]] = {
    WorkspaceFile.ABOUT_YOU: "About you",
    WorkspaceFile.ORGANIZATION: "Organization",
    WorkspaceFile.PEOPLE: "People",
    WorkspaceFile.GLOSSARY: "Glossary",
    WorkspaceFile.VOICE: "Voice",
    WorkspaceFile.ROSTER: "Roster",
    AgentFile.IDENTITY: "Identity",
    AgentFile.ROLE: "Role",
    AgentFile.NOTES: "Notes",
    AgentFile.OPERATING_LOOP: "Operating loop",
    AgentFile.TOOLS: "Tools",
    AgentFile.MANIFEST: "Manifest",
}
ALWAYS_AT_FIRST: Final = frozenset({WorkspaceFile.ABOUT_YOU, WorkspaceFile.VOICE})
"""The workspace files that are always loaded until somebody says otherwise."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(NamedTuple):
    """Which file is meant: one of the organization's, or one of an agent's."""

    agent_id: UUID | None
    name: str


class Named(NamedTuple):
    """What a caller calls a file; an agent by its id, slug or external id."""

    name: str
    agent: UUID | str | None = None


class Author(_Value):
    """Who wrote. Where a person applied what an agent proposed, both are named."""

    kind: AuthorKind
    user_id: UUID | None = None
    agent_id: UUID | None = None


SYSTEM: Final = Author(kind=AuthorKind.SYSTEM)


class FileSummary(_Value):
    """A file without its text. `revision` counts its states from 1; `hash` is the SHA-256 of the body."""

    id: UUID
    name: str
    title: str
    agent_id: UUID | None
    load_mode: LoadMode | None
    hash: str
    bytes: int
    revision: int
    action: Action
    author: Author
    written_at: datetime
    created_at: datetime


class ContextFile(FileSummary):
    """A file, byte for byte as it was written."""

    body: str

    def summary(self) -> FileSummary:
        """The same without its text."""
        return FileSummary(**{name: getattr(self, name) for name in FileSummary.model_fields})


class FileList(_Value):
    """An organization's files, or an agent's, in their own order."""

    items: list[FileSummary]
    always_loaded: list[str]
    most_always_loaded: int = MOST_ALWAYS_LOADED


class FileRevision(_Value):
    """One state that a file had, from `written_at` until `replaced_at`; the present one has no end.

    `restored_from` is the revision whose text was written again, `proposal_id` the change
    that was applied.
    """

    number: int
    load_mode: LoadMode | None
    hash: str
    bytes: int
    action: Action
    author: Author
    restored_from: int | None
    proposal_id: UUID | None
    written_at: datetime
    replaced_at: datetime | None


class RevisionText(FileRevision):
    """A state with what the file said in it."""

    body: str


class ErasedRevision(_Value):
    """An earlier state of a file that was taken away for good.

    `scrubbed` is False where its last traces still wait to leave the database's files: a worker
    finishes that.
    """

    file: str
    agent_id: UUID | None
    number: int
    scrubbed: bool


class FileProposalStatus(StrEnum):
    """Where a proposed change stands."""

    WAITING = "waiting"
    APPLIED = "applied"
    DISCARDED = "discarded"


class FileProposal(_Value):
    """A change that was proposed. `base_revision` and `base_hash` are what its author had read.

    `stale` says of one that waits that the file says something else by now. `revision` is what
    it became once it was applied.
    """

    id: UUID
    file: str
    agent_id: UUID | None
    status: FileProposalStatus
    base_revision: int
    base_hash: str
    stale: bool
    bytes: int
    author: Author
    run_id: UUID | None
    conversation_id: UUID | None
    revision: int | None
    decided_by: UUID | None
    decided_at: datetime | None
    created_at: datetime


class ProposedChange(FileProposal):
    """A proposed change with its text, while it waits.

    `diff` leads from what the file says now to what it would say. A `stale` one has been so since
    `stale_since`, which is None where the revisions tell it no longer; `current_hash` is the file's
    hash now.
    """

    body: str | None
    diff: str | None
    stale_since: datetime | None
    current_hash: str


class FileView(_Value):
    """A file as a run is given it."""

    name: str
    title: str
    load_mode: LoadMode | None
    body: str
    hash: str
    revision: int


class FilesView(_Value):
    """All that instructions are made of: the workspace files, and the files of one agent, if there is one."""

    workspace: list[FileView]
    agent: list[FileView]

    @property
    def always_loaded(self) -> list[FileView]:
        """The workspace files that every run is given."""
        return [file for file in self.workspace if file.load_mode is LoadMode.ALWAYS]
