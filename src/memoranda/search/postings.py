"""How postings and lengths are written into rows: little-endian numbers behind a version byte."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.words.errors import Invalid

Numbers = NDArray[np.int64]

_VERSION: Final = 1
_WIDTHS: Final = (1, 2, 4)
_LARGEST: Final = (1 << 32) - 1
_HEADER: Final = 2


class UnreadablePostings(Invalid):
    """A row of the index that this version can't read. Building the index again mends it."""

    code = "unreadable_postings"


def pack_postings(counts: Mapping[int, int]) -> bytes:
    """Pack how often one term occurs, by passage ordinal. A count over 255 is kept as 255.

    Layout: version, width of an ordinal in bytes, ordinals ascending, one byte for each count.
    """
    ordinals = sorted(counts)
    times = bytes(min(counts[ordinal], 255) for ordinal in ordinals)
    return _pack(ordinals) + times


def unpack_postings(packed: bytes) -> tuple[Numbers, Numbers]:
    """Return ordinals (ascending) and counts, as two arrays of one length."""
    width = _width(packed)
    entries = _entries(packed, width)
    ordinals = np.frombuffer(packed, f"<u{width}", entries, _HEADER)
    times = np.frombuffer(packed, np.uint8, entries, _HEADER + entries * width)
    return ordinals.astype(np.int64), times.astype(np.int64)


def unpack_each(packed: Sequence[bytes], starts: Sequence[int]) -> tuple[Numbers, Numbers]:
    """Return the ordinals of many rows and their counts, each row's ordinals moved by its start, in any order.

    As `unpack_postings` of one after the other, in a few steps for all rows of one width.
    """
    places, times = [], []
    of_width: dict[int, list[tuple[bytes, int]]] = {}
    for row, start in zip(packed, starts, strict=True):
        of_width.setdefault(_width(row), []).append((row, start))
    for width, rows in of_width.items():
        entries = [_entries(row, width) for row, _ in rows]
        ends = [_HEADER + count * width for count in entries]
        ordinals = b"".join([row[_HEADER:end] for (row, _), end in zip(rows, ends, strict=True)])
        counts = b"".join([row[end:] for (row, _), end in zip(rows, ends, strict=True)])
        moved = np.repeat([start for _, start in rows], entries)
        places.append(np.frombuffer(ordinals, f"<u{width}").astype(np.int64) + moved)
        times.append(np.frombuffer(counts, np.uint8).astype(np.int64))
    if not places:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(places), np.concatenate(times)


def pack_lengths(lengths: Sequence[int]) -> bytes:
    """Pack the length of each passage, in order."""
    return _pack(lengths)


def unpack_lengths(packed: bytes) -> Numbers:
    """Return the length of each passage, in order."""
    width = _width(packed)
    if (len(packed) - _HEADER) % width:
        raise _unreadable("its length does not fit its entries")
    return np.frombuffer(packed, f"<u{width}", -1, _HEADER).astype(np.int64)


def _pack(numbers: Sequence[int]) -> bytes:
    largest = max(numbers, default=0)
    if largest > _LARGEST or min(numbers, default=0) < 0:
        raise ValueError(f"postings hold numbers from 0 to {_LARGEST}")
    width = next(width for width in _WIDTHS if largest < 1 << 8 * width)
    return bytes((_VERSION, width)) + np.asarray(numbers, f"<u{width}").tobytes()


def _width(packed: bytes) -> int:
    if len(packed) < _HEADER or packed[0] != _VERSION or packed[1] not in _WIDTHS:
        raise _unreadable("its header is unknown")
    return packed[1]


def _entries(packed: bytes, width: int) -> int:
    entries, rest = divmod(len(packed) - _HEADER, width + 1)
    if rest:
        raise _unreadable("its length does not fit its entries")
    return entries


def _unreadable(reason: str) -> UnreadablePostings:
    return UnreadablePostings(
        f"A row of the search index can't be read: {reason}. Build the index again."
    )
