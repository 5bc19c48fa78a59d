"""Our own JSON Lines: a header, then a line for each memory, proposal and revision. Pure."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.entry import Entry, Named, Passed, State, Unread
from memoranda.memories.transfer.errors import UnreadableImport
from memoranda.words.inputs import is_written_time
from memoranda.words.ref import ResourceRef
from memoranda.words.shape import misshapen

FORMAT: Final = "memoranda-memories"
VERSION: Final = 1
KINDS: Final = frozenset({"memory", "proposal", "revision"})


def _written(value: object) -> object:
    if value is not None and not is_written_time(value):
        raise ValueError("This must be a time with its zone, as a text.")
    return value


# Strict would refuse the text that the check before it hands on.
Time = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WrittenUser(_Shape):
    """A user: by id within the same organization, by external id in any."""

    id: str | None = None
    external_id: str | None = None
    name: str | None = None


class WrittenAgent(_Shape):
    """An agent: by slug, or by external id."""

    id: str | None = None
    slug: str | None = None
    external_id: str | None = None


class About(_Shape):
    """What a memory is about, where that is neither its user nor the organization."""

    kind: str
    id: str


class Said(_Shape):
    """What a memory, a proposal and a revision have in common."""

    id: UUID | None = None
    text: str
    title: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    expires_at: Time | None = None
    attribute: str | None = None
    about: About | None = None
    user: WrittenUser | None = None
    agent: WrittenAgent | None = None
    origin: str | None = None
    created_at: Time | None = None


class MemoryLine(Said):
    """A memory, active or forgotten and still to be restored."""

    kind: Literal["memory"]
    status: Literal["active", "forgotten"] = "active"
    version: int | None = None
    pinned: bool = False
    recorded_at: Time | None = None
    uses: int = 0
    used_at: Time | None = None
    restorable_until: Time | None = None


class ProposalLine(Said):
    """A proposal that waits."""

    kind: Literal["proposal"]


class RevisionLine(BaseModel):
    """A line of a history, which can't be made anew."""

    kind: Literal["revision"]


class Header(_Shape):
    """The first line."""

    format: Literal["memoranda-memories"]
    version: int


Line = Annotated[MemoryLine | ProposalLine | RevisionLine, Field(discriminator="kind")]
LINE: Final[TypeAdapter[MemoryLine | ProposalLine | RevisionLine]] = TypeAdapter(Line)
HEADER: Final = TypeAdapter(Header)


def is_header(value: object) -> bool:
    """Whether an object is the first line of an export, of whichever version."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def looks(value: object) -> bool:
    """Whether an object is one of our own lines."""
    if not isinstance(value, dict):
        return False
    kind = value.get("kind")
    return is_header(value) or (isinstance(kind, str) and kind in KINDS)


def check_header(value: dict[str, Any]) -> None:
    """Raise `UnreadableImport` for an export of a later version."""
    if value.get("version") != VERSION:
        raise UnreadableImport(
            f"This export is of version {value.get('version')!r:.20}, and {VERSION} is read here. "
            "Take it in with a newer Memoranda.",
        )


def read(line: int, written: str) -> Entry | Unread | Passed:
    """The entry of one line."""
    try:
        found = LINE.validate_json(written)
    except ValidationError as error:
        return _unread(line, error)
    if isinstance(found, RevisionLine):
        return Passed(line, "history")
    try:
        about = None if found.about is None else ResourceRef(**dict(found.about))
    except ValidationError:
        return Unread(line, fields.INVALID, "about: A kind and an id name something.")
    is_memory = isinstance(found, MemoryLine)
    return Entry(
        line=line,
        text=found.text,
        title=found.title,
        category=found.category,
        tags=found.tags,
        expires_at=found.expires_at,
        pinned=isinstance(found, MemoryLine) and found.pinned,
        attribute=found.attribute,
        about=about,
        user=_named(found.user, *_called(found.user)),
        agent=_named(found.agent, *_called(found.agent)),
        stated=True,
        state=_state(found) if is_memory else State.PROPOSED,
        created_at=found.created_at or _recorded(found),
        as_written=True,
    )


def _recorded(found: MemoryLine | ProposalLine) -> datetime | None:
    return found.recorded_at if isinstance(found, MemoryLine) else None


def _state(found: MemoryLine | ProposalLine) -> State:
    forgotten = isinstance(found, MemoryLine) and found.status == "forgotten"
    return State.FORGOTTEN if forgotten else State.ACTIVE


def _called(whom: WrittenUser | WrittenAgent | None) -> tuple[str | None, ...]:
    if isinstance(whom, WrittenAgent):
        return (whom.slug, whom.external_id)
    return () if whom is None else (whom.external_id,)


def _named(whom: WrittenUser | WrittenAgent | None, *names: str | None) -> Named | None:
    return None if whom is None else Named(whom.id, tuple(name for name in names if name))


def _unread(line: int, error: ValidationError) -> Unread:
    first = error.errors(include_input=False, include_url=False)[0]
    if first["type"] == "json_invalid":
        return Unread(line, fields.BROKEN, "This line is no JSON object.")
    if first["type"].startswith("union_tag"):
        kinds = ", ".join(sorted(KINDS))
        return Unread(line, fields.INVALID, f"kind: This must be one of {kinds}.")
    place = ".".join(str(step)[:40] for step in first["loc"] if step not in KINDS)
    said = misshapen(first)
    return Unread(line, fields.INVALID, f"{place}: {said}" if place else said)
