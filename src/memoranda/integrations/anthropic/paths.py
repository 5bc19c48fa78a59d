"""The paths of the memory tool: read, held below /memories, and made of what is remembered. Pure."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.words.errors import Invalid

ROOT: Final = "/memories"
ORGANIZATION: Final = "organization"
AGENT: Final = "agent"
FACTS: Final = "facts"
FIXED: Final = (ORGANIZATION, AGENT, FACTS)
"""The folders that are not the model's to fill: context files, and what is remembered under no path."""
LONGEST: Final = 200
"""Characters of a path: it is kept as the title of a memory."""

_TAIL: Final = 10
_SHOWN: Final = 40
_UNPRINTED: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")


class Path(NamedTuple):
    """A path below /memories, as its parts; none for the folder itself."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join((ROOT, *self.parts))

    @property
    def fixed(self) -> str | None:
        """In which of the fixed folders it is, or which one it is."""
        return self.parts[0] if self.parts and self.parts[0] in FIXED else None

    def within(self, other: "Path") -> bool:
        """Whether it is below the other one."""
        size = len(other.parts)
        return len(self.parts) > size and self.parts[:size] == other.parts

    def moved(self, old: "Path", new: "Path") -> "Path":
        """Where it is once `old`, which it is or is below, is `new`."""
        return Path((*new.parts, *self.parts[len(old.parts) :]))


def read_path(given: str) -> Path:
    """The path that is meant. Raises `Invalid` for one that does not stay below /memories."""
    if given != ROOT and not given.startswith(f"{ROOT}/"):
        raise Invalid(f"Path must start with /memories, got: {_shown(given)}", field="path")
    if _UNPRINTED.search(given):
        raise Invalid("The path holds a character that no name of a file may have.", field="path")
    parts: list[str] = []
    for part in given.removeprefix(ROOT).split("/"):
        if part in {"", "."}:
            continue
        if part != part.strip():
            raise Invalid(
                f"Path {_shown(given)} holds a name with a blank at its end.", field="path"
            )
        if part != "..":
            parts.append(part)
        elif not parts:
            raise Invalid(f"Path {_shown(given)} would escape /memories directory", field="path")
        else:
            parts.pop()
    path = Path(tuple(parts))
    if len(str(path)) > LONGEST:
        raise Invalid(f"A path may have {LONGEST} characters: choose a shorter one.", field="path")
    return path


def path_of_title(title: str | None) -> Path | None:
    """The path that a memory is kept under, if its title is one."""
    if title is None or not title.startswith(f"{ROOT}/"):
        return None
    try:
        path = read_path(title)
    except Invalid:
        return None
    return path if str(path) == title and path.fixed is None else None


def path_of_fact(memory_id: UUID, text: str) -> Path:
    """A path for what is remembered under none: its first words, and what tells it from others."""
    words = "-".join(re.findall(r"\w+", text.lower()))[:_SHOWN].strip("-_")
    return Path((FACTS, f"{words or 'fact'}-{tail(memory_id)}.md"))


def tail(memory_id: UUID) -> str:
    """The end of an id, which is random."""
    return memory_id.hex[-_TAIL:]


def tail_of(path: Path) -> str | None:
    """The end of an id that a path in the folder of facts names, whatever its words are by now."""
    found = re.search(rf"-([0-9a-f]{{{_TAIL}}})(?:\.md)?$", path.parts[-1])
    return found[1] if path.fixed == FACTS and found else None


def folders_of(paths: Iterable[Path]) -> set[Path]:
    """Every folder that one of these paths is in."""
    return {Path(path.parts[:size]) for path in paths for size in range(len(path.parts))}


def _shown(given: str) -> str:
    return _UNPRINTED.sub("?", given[:LONGEST])
