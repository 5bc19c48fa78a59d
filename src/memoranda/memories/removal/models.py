"""What is said of a removal once it is done."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from memoranda.storage import Transaction


class QuotingFile(BaseModel):
    """A context file that quotes what is erased: `now`, in earlier `revisions`, or in `proposals` that wait.

    Without an agent it is the organization's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    agent_id: UUID | None
    now: bool
    revisions: list[int]
    proposals: list[UUID]


class QuotingThread(BaseModel):
    """A graph's thread that quotes what is erased, and for whom it is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user_id: UUID | None
    agent_id: UUID | None
    thread_id: str


class QuotingState(BaseModel):
    """State that outlives sessions and quotes what is erased; without a `person` it is the application's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    application: str
    person: str


class QuotedInKept(BaseModel):
    """What agent frameworks keep that quotes what is erased: threads, and items, histories and sessions by id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threads: list[QuotingThread] = []
    items: list[UUID] = []
    histories: list[UUID] = []
    sessions: list[UUID] = []
    states: list[QuotingState] = []


class AlsoErased(NamedTuple):
    """What an erasure of a user took beside memories; `kept` are things that agent frameworks kept in a form of their own."""

    chats: int = 0
    conversations: int = 0
    kept: int = 0


class Erased(BaseModel):
    """What an erasure took away: how many memories and proposals and, where a user was erased, what else.

    That is `chats`, `conversations` with those of chats and branches, and what agent frameworks `kept`: checkpoints,
    items, histories, sessions, and states that outlive them.
    `quoted_in` lists the conversations that quote what is erased, `quoted_in_chats` the chats, `quoted_in_sections` the users whose
    section of the dossier does, `quoted_in_dossier` says whether the organization's own part does, and
    `quoted_in_files` lists the context files that do, and `quoted_in_kept` what agent frameworks keep; all of it stays as it is, for a person to decide. `scrubbed` is False where the last traces still wait to leave the
    database's files: a worker, or the next erasure, finishes that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memories: int
    proposals: int
    chats: int
    conversations: int
    kept: int
    quoted_in: list[UUID]
    quoted_in_chats: list[UUID]
    quoted_in_sections: list[UUID]
    quoted_in_dossier: bool
    quoted_in_files: list[QuotingFile]
    quoted_in_kept: QuotedInKept
    scrubbed: bool


InDossier: TypeAlias = tuple[list[UUID], bool]
"""Who quotes a text in the dossier: the users of these sections, and whether the organization's part does."""


async def _nobody_quotes(_: UUID, __: Collection[str]) -> InDossier:
    return [], False


InFiles: TypeAlias = Sequence[tuple[str, UUID | None, bool, list[int], list[UUID]]]
"""Which context files quote a text, as the fields of `QuotingFile`."""


async def _in_no_file(_: UUID, __: Collection[str]) -> InFiles:
    return ()


async def _in_no_chat(_: UUID, __: Collection[str], ___: UUID | None) -> list[UUID]:
    return []


async def _kept_nowhere(_: UUID, __: Collection[str], ___: UUID | None) -> QuotedInKept:
    return QuotedInKept()


class Elsewhere(NamedTuple):
    """What other rooms keep about memories, by id: each is called within the transaction that removes them.

    `of_user` takes all that there is of a user, and may say what that was.

    `in_dossier` finds where an organization's dossier quotes one of some texts, `in_files` where its
    context files do, and `in_chats` which of its chats do, but for a user's; `in_kept` looks through what
    agent frameworks keep, likewise.
    """

    of_memories: Callable[["Transaction", Sequence[UUID]], None]
    of_user: Callable[["Transaction", UUID], AlsoErased | None]
    in_dossier: Callable[[UUID, Collection[str]], Awaitable[InDossier]] = _nobody_quotes
    in_files: Callable[[UUID, Collection[str]], Awaitable[InFiles]] = _in_no_file
    in_chats: Callable[[UUID, Collection[str], UUID | None], Awaitable[list[UUID]]] = _in_no_chat
    in_kept: Callable[[UUID, Collection[str], UUID | None], Awaitable[QuotedInKept]] = _kept_nowhere


def _nothing(_: "Transaction", __: object) -> None:
    """Nobody else keeps anything."""


NOTHING_ELSEWHERE: Final = Elsewhere(_nothing, _nothing)
