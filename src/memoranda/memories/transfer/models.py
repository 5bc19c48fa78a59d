"""What an import answers: how many lines came to what, and examples with their reasons."""

from collections.abc import Callable
from enum import StrEnum
from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict

Outcome: TypeAlias = Literal["taken", "changed", "known", "refused"]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many entries are done, and how many there are."""


class ImportSource(StrEnum):
    """Where a file comes from; `auto` looks at what it holds."""

    AUTO = "auto"
    MEMORANDA = "memoranda"
    MEM0 = "mem0"
    LANGGRAPH = "langgraph"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ImportedLine(_Value):
    """What became of one entry of the file.

    `line` is its line, or its number where the file is one JSON document. `how` says what was
    changed, `code` why it was refused. `memory_id` names the memory that says the same already,
    and `same_as` the line that said it before.
    """

    line: int
    outcome: Outcome
    code: str | None = None
    how: tuple[str, ...] = ()
    detail: str | None = None
    memory_id: UUID | None = None
    same_as: int | None = None


class ImportReport(_Value):
    """What an import did, or with `dry_run` would do.

    `entries` is the sum of `taken`, `changed`, `known` and `refused`; `passed` counts what is no
    memory, and `passes` the same by why: `header`, `history`, and `archived` or `deleted` where it was
    that there. `written` counts the memories and proposals that there are now more,
    `forgotten` those among them that can be restored, `proposals` those that wait, and `for_everybody` those
    that no user and no agent is named for, so that every run may be told of them. `reasons` counts
    refusals by code and `changes` what was changed. `examples` holds a few of each.
    """

    source: ImportSource
    dry_run: bool
    entries: int
    taken: int
    changed: int
    known: int
    refused: int
    passed: int
    passes: dict[str, int]
    written: int
    forgotten: int
    proposals: int
    for_everybody: int
    reasons: dict[str, int]
    changes: dict[str, int]
    examples: tuple[ImportedLine, ...]
