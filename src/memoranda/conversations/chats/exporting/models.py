"""The lines in which a chat is written down. Pure."""

from typing import Final

from pydantic import BaseModel, ConfigDict

from memoranda.words.jsonlines import json_line

HEADER: Final = {"format": "memoranda-chat", "version": 1}
"""The first line."""


class ExportEnd(BaseModel):
    """How many lines of each kind there were: without it, what is written is not all of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    messages: int
    runs: int
    feedback: int
    notes: int


def line_of(kind: str, value: BaseModel, **more: object) -> str:
    """A value as a line that says of which kind it is."""
    return json_line({"kind": kind, **value.model_dump(mode="json"), **more})
