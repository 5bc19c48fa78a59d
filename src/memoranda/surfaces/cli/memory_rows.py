"""What the commands about memories share: how one is named, and how it is shown."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.options import id_of

if TYPE_CHECKING:
    from memoranda.memories.models import Match, Memory, Proposal

MemoryId = Annotated[
    UUID,
    typer.Argument(metavar="ID", parser=id_of("`memoranda memories`"), help="The memory's id."),
]
Version = Annotated[
    int | None,
    typer.Option(
        "--version", metavar="N", help="Change nothing unless the memory is at this version."
    ),
]


def about(memory: "Memory | Proposal") -> str | None:
    """The row, and the attribute without the long id that a subject key has before it."""
    rows = [f"{ref.kind}:{ref.id}" for ref in memory.subject_refs]
    attribute = [] if memory.subject_key is None else [memory.subject_key.split(":", 2)[-1]]
    return f"about {', '.join(rows + attribute)}" if rows or attribute else None


def labels(memory: "Memory | Proposal") -> str | None:
    """The title, category and tags, those that there are, on one line."""
    parts = [memory.title, memory.category and f"({memory.category})"]
    parts += [f"#{tag}" for tag in memory.tags]
    return " ".join(part for part in parts if part) or None


def kept_back(hidden: int) -> list[Text]:
    """How many memories are not shown, why, and how to see them."""
    if not hidden:
        return []
    are = "memory is" if hidden == 1 else "memories are"
    told = (
        f"{hidden} more {are} about rows of your application that are not there, so no run is told. "
        "Leave out --user and --agent to see them."
    )
    return [Text(told, style="dim")]


def why(match: "Match | None") -> str:
    """Why a memory was found, in words."""
    if match is None:
        return "pinned"
    parts = ["the whole query"] if match.literal else []
    parts += [f"words: {', '.join(match.words)}"] if match.words else []
    parts += [f"meaning {match.meaning:.2f}"] if match.meaning is not None else []
    return "; ".join(parts)
