"""A transcript's lines to its turns: JSON Lines, one object for each turn."""

import json
import re
from contextlib import suppress
from typing import Final

from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.errors import BrokenTranscript, TranscriptWithoutTurns
from memoranda.knowledge.text import check_chunks
from memoranda.words.text import clean
from memoranda.words.tokens import Estimator, estimate_tokens

_LINE: Final = re.compile(rb"[^\r\n]+")
_SHAPE: Final = (
    'Write one JSON object per line, such as {"speaker": "Ada", "text": "Hello", "id": "1"}.'
)


def read_turns(text: str, estimator: Estimator = estimate_tokens) -> list[Chunk]:
    """Return one chunk for each turn of a transcript, in order.

    A line has `speaker` and `text`, and may have `id`, `at` and `caption` (of a picture that was
    shared); other names are ignored, as are empty lines and turns that say nothing. A caption
    becomes part of the turn's text. Raises BrokenTranscript with the line, or
    TranscriptWithoutTurns.
    """
    turns: list[Chunk] = []
    for number, line in enumerate(text.split("\n"), start=1):
        turn = _read_turn(line, number, len(turns), estimator) if line.strip() else None
        if turn is not None:
            check_chunks(len(turns) + 1)
            turns.append(turn)
    if not turns:
        raise TranscriptWithoutTurns(f"The transcript has no turn that says anything. {_SHAPE}")
    return turns


def read_first_turn(data: bytes) -> None:
    """Raise BrokenTranscript where the first line that says anything is no turn; what is no UTF-8 is not looked at."""
    with suppress(UnicodeDecodeError):
        for found in _LINE.finditer(data):
            line = clean(found[0].decode("utf-8-sig"))
            if line.strip():
                _read_turn(line, data.count(b"\n", 0, found.start()) + 1, 0, len)
                return


def _read_turn(line: str, number: int, ordinal: int, estimator: Estimator) -> Chunk | None:
    fields = _read_object(line, number)
    speaker = _string(fields, "speaker", number)
    said = _string(fields, "text", number)
    caption = _string(fields, "caption", number, optional=True)
    if not speaker:
        raise _broken(number, '"speaker" is missing or empty')
    text = f"{said} (picture: {caption})".lstrip() if caption else said
    if not text:
        return None
    return Chunk(
        ordinal=ordinal,
        text=text,
        tokens=estimator(text),
        speaker=speaker,
        at=_string(fields, "at", number, optional=True) or None,
        external_id=_string(fields, "id", number, optional=True) or None,
    )


def _read_object(line: str, number: int) -> dict[str, object]:
    try:
        value = json.loads(line)
    except RecursionError:
        raise _broken(number, "it is nested too deeply") from None
    except ValueError as error:
        raise _broken(number, f"it is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise _broken(number, "it is not an object")
    return value


def _string(fields: dict[str, object], name: str, number: int, *, optional: bool = False) -> str:
    value = fields.get(name)
    if optional and value is None:
        return ""
    if name in {"id", "at"} and type(value) in {int, float}:
        return str(value)
    if not isinstance(value, str):
        raise _broken(number, f'"{name}" is missing' if value is None else f'"{name}" is no string')
    return clean(value).strip()


def _broken(number: int, reason: str) -> BrokenTranscript:
    return BrokenTranscript(
        f"Line {number} of the transcript is not a turn: {reason}. {_SHAPE}", line=number
    )
