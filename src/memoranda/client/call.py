"""One call of the API as a value: what is asked, and what is answered. Nothing is sent by it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, NamedTuple, Self, TypeAlias, TypeVar, cast
from urllib.parse import quote
from uuid import UUID

from memoranda.briefs.models import ContextPolicy

T = TypeVar("T")

Id: TypeAlias = UUID | str
"""An id, or its text; where the API says so, a name that stands for one."""

Policy: TypeAlias = ContextPolicy | Mapping[str, Any]
"""A policy for briefs, as a value or as plain JSON."""

Content: TypeAlias = bytes | Path | BinaryIO
"""What is uploaded: bytes, the path of a file, or an open file, which is read from where it stands."""


class Omitted(Enum):
    """What is said of a field that is left as it is, where null would empty it."""

    OMITTED = "omitted"


OMITTED: Final = Omitted.OMITTED


class _Rest:
    """What is left of an open file: it can be read, and nobody takes it back to the file's own beginning."""

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read


UNNAMED: Final = "document"
"""What a file without a name is called: to be told from a field of its form, it needs one."""


@dataclass(frozen=True)
class File:
    """A file to send, and what it is called. One that came open is sent from where it stands."""

    content: Content
    filename: str | None = None
    begin: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Keep where an open file stands, so that it can be sent a second time."""
        if not isinstance(self.content, bytes | Path) and self.content.seekable():
            object.__setattr__(self, "begin", self.content.tell())

    @property
    def name(self) -> str:
        """What it is called: as it was said, or as its path has it."""
        if self.filename is not None:
            return self.filename
        path = self.content if isinstance(self.content, Path) else getattr(self.content, "name", "")
        return (Path(path).name if isinstance(path, str | Path) else "") or UNNAMED

    @property
    def resendable(self) -> bool:
        """Whether it can be read a second time."""
        return isinstance(self.content, bytes | Path) or self.begin is not None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The file for reading, from its beginning."""
        if isinstance(self.content, bytes):
            yield BytesIO(self.content)
        elif isinstance(self.content, Path):
            with self.content.open("rb") as file:
                yield file
        else:
            if self.begin is not None:
                self.content.seek(self.begin)
            yield self.content if not self.begin else cast("BinaryIO", _Rest(self.content))


class Form(NamedTuple):
    """A file to send in a form, with its fields."""

    file: File
    fields: Mapping[str, object]


Body: TypeAlias = Mapping[str, object] | File | Form | None


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call: `path` is the route's, with what stands in it under `at`; `answer` is the type of what comes back.

    One that is `repeatable` may be sent again where nobody knows whether it arrived: it only reads, or carries
    a key under which the server does it once.
    """

    method: str
    path: str
    answer: type[T]
    at: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, object] = field(default_factory=dict)
    body: Body = None
    repeatable: bool = field(default=False, kw_only=True)

    @property
    def target(self) -> str:
        """The path with what stands in it."""
        return self.path.format_map({name: _segment(value) for name, value in self.at.items()})

    @property
    def reads(self) -> bool:
        """Whether it may be sent as often as anybody likes."""
        return self.repeatable or self.method == "GET"

    @property
    def resendable(self) -> bool:
        """Whether its body can be sent a second time."""
        file = self.body.file if isinstance(self.body, Form) else self.body
        return not isinstance(file, File) or file.resendable

    def after(self, cursor: str) -> Self:
        """The same call, for the page that begins there."""
        return replace(self, query={**self.query, "cursor": cursor})


def _segment(value: object) -> str:
    """One step of a path. Dots alone would lead to another route, unless they are spelled out."""
    text = str(value)
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, "")


def given(**fields: object) -> dict[str, object]:
    """The fields that hold something: to the API, null is the same as leaving a field out."""
    return {name: value for name, value in fields.items() if value is not None}


def changed(**fields: object) -> dict[str, object]:
    """The fields that were said, where null empties one and leaving it out does not."""
    return {name: value for name, value in fields.items() if value is not OMITTED}
