"""CSV and TSV to one line for each row: `column: value; …`."""

import csv
import io
from collections import Counter
from itertools import islice
from typing import Final

from memoranda.knowledge.errors import BrokenDocument, TooManyCells
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.rows import line_of, names_of
from memoranda.knowledge.formats.written import Writer, Written
from memoranda.knowledge.markdown import Section
from memoranda.knowledge.text import read_text

_DELIMITERS: Final = ",;\t|"
_LOOKED_AT: Final = 1 << 16
_ROWS_LOOKED_AT: Final = 50


def read_csv(data: bytes, limit: int, bounds: Bounds) -> Written:
    """Read a table. A first row that reads like names gives the columns theirs."""
    text = read_text(data, limit)
    # For the whole process, which reads this one document: a cell may be as long as the file.
    csv.field_size_limit(max(limit, 1))
    writer = Writer(bounds.characters)
    names: tuple[str, ...] | None = None
    first, cells, header = 1, 0, ""
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=_delimiter(text))):
            cells += len(row)
            if cells > bounds.cells:
                raise TooManyCells(
                    f"The table has more than {bounds.cells:,} cells. Split it into parts.",
                    limit=bounds.cells,
                )
            if number == 0 and (names := names_of(row)):
                first, header = 2, "; ".join(names)
                continue
            writer.line(line_of(row, names, number=True))
    except csv.Error as error:
        raise BrokenDocument(
            f"The table can't be read: {error}. Correct it, or save it anew."
        ) from None
    body = writer.text()
    if not body.strip() and names:  # nothing but names: they are what it says
        body, first = header, 1
    return Written(body, (Section(0, len(body), ()),), "row", first)


def _delimiter(text: str) -> str:
    """What stands between the cells: of all that could, what makes most rows alike."""
    head = text[:_LOOKED_AT]
    return max(_DELIMITERS, key=lambda mark: _alike(head, mark))


def _alike(head: str, mark: str) -> tuple[float, int]:
    try:
        rows = [
            row
            for row in islice(csv.reader(io.StringIO(head), delimiter=mark), _ROWS_LOOKED_AT)
            if row
        ]
    except csv.Error:
        return 0.0, 0
    if not rows:
        return 0.0, 0
    width, times = Counter(len(row) for row in rows).most_common(1)[0]
    return (times / len(rows) if width > 1 else 0.0), width
