"""Reads files of LoCoMo's shape: long conversations, and questions with the turns that answer them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The categories that are asked. The fifth holds questions that nothing answers."""

_SESSION: Final = re.compile(r"session_(\d+)")
_TURN: Final = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Turn:
    """What one speaker said at once. `at` is the time of the session, as it is written."""

    id: str
    speaker: str
    text: str
    at: str
    caption: str | None


@dataclass(frozen=True)
class Question:
    """A question, its category, and the ids of the turns that answer it."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Talk:
    """One conversation with its questions."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def transcript(self) -> str:
        """The conversation as JSON Lines, one turn a line."""
        return "".join(json.dumps(_line(turn)) + "\n" for turn in self.turns)


def read_talks(path: Path) -> list[Talk]:
    """Read every conversation; questions whose evidence names no turn are left out."""
    return [
        Talk(
            name=str(raw.get("sample_id", number)),
            turns=tuple(_turns(raw["conversation"])),
            questions=tuple(_questions(raw["qa"])),
        )
        for number, raw in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]


def _turns(raw: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(found[1]) for name in raw if (found := _SESSION.fullmatch(name)))
    for number in numbers:
        at = str(raw.get(f"session_{number}_date_time", ""))
        for turn in raw[f"session_{number}"]:
            caption = turn.get("blip_caption")
            yield Turn(turn["dia_id"], turn["speaker"], turn["text"], at, caption)


def _questions(raw: list[Mapping[str, Any]]) -> Iterator[Question]:
    for each in raw:
        evidence = tuple(_evidence(each.get("evidence") or []))
        if each["category"] in CATEGORIES and evidence:
            yield Question(each["question"], each["category"], evidence)


def _evidence(raw: list[str]) -> Iterator[str]:
    """The ids in one spelling: some files write two in one text, a colon too many or a zero before."""
    seen = dict.fromkeys(
        f"D{int(session)}:{int(turn)}" for text in raw for session, turn in _TURN.findall(text)
    )
    yield from seen


def _line(turn: Turn) -> dict[str, str]:
    line = {"id": turn.id, "speaker": turn.speaker, "text": turn.text, "at": turn.at}
    return line if turn.caption is None else {**line, "caption": turn.caption}
