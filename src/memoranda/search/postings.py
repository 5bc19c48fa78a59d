"""How postings and lengths are written into rows: little-endian numbers behind a version byte."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoranda.words.errors import Invalid

Numbers = NDArray[np.int64]

_VERSION: Final = 1
_WIDTHS: Final = (1, 2, 4)
_KNOWN: Final = np.isin(np.arange(256), _WIDTHS)
_LARGEST: Final = (1 << 32) - 1
_HEADER: Final = 2
BLOCK_BITS: Final = 2
"""Passages are looked at four by four where there are too many of them: a row never ends within such a block."""
MOST_BYTES: Final = 2_000
"""A longer row is kept in parts, because PostgreSQL's index holds whole rows, and none over 2,700 bytes."""


class UnreadablePostings(Invalid):
    """A row of the index that this version can't read. Building the index again mends it."""

    code = "unreadable_postings"


def pack_postings(counts: Mapping[int, int]) -> bytes:
    """Pack how often one term occurs, by passage ordinal. A count over 255 is kept as 255.

    Layout: version, width of an ordinal in bytes, ordinals ascending, one byte for each count.
    """
    ordinals = sorted(counts)
    return _row(ordinals, [min(counts[ordinal], 255) for ordinal in ordinals])


def unpack_postings(packed: bytes) -> tuple[Numbers, Numbers]:
    """Return ordinals (ascending) and counts, as two arrays of one length."""
    width = _width(packed)
    entries = _entries(packed, width)
    ordinals = np.frombuffer(packed, f"<u{width}", entries, _HEADER)
    times = np.frombuffer(packed, np.uint8, entries, _HEADER + entries * width)
    return ordinals.astype(np.int64), times.astype(np.int64)


def split_postings(packed: bytes, most: int = MOST_BYTES) -> list[bytes]:
    """Return the row in parts of at most `most` bytes, each a row by itself: almost always in one."""
    if len(packed) <= most:
        return [packed]
    width = _width(packed)
    ordinals, times = unpack_postings(packed)
    blocks = ordinals >> BLOCK_BITS
    parts, start, at_once = [], 0, (most - _HEADER) // (width + 1)
    while start < len(ordinals):
        end = start + at_once
        while end < len(ordinals) and blocks[end] == blocks[end - 1]:
            end -= 1
        parts.append(_row(ordinals[start:end], times[start:end]))
        start = end
    return parts


def join_postings(one: bytes, other: bytes) -> bytes:
    """The row of which these are two parts, in any order."""
    ordinals, times = unpack_each([one, other], [0, 0])
    order = np.argsort(ordinals, kind="stable")
    return _row(ordinals[order], times[order])


def unpack_each(packed: Sequence[bytes], starts: Sequence[int]) -> tuple[Numbers, Numbers]:
    """`unpack_rows` of rows that are not joined yet."""
    sizes = np.fromiter(map(len, packed), np.int64, len(packed))
    return unpack_rows(b"".join(packed), sizes, np.asarray(starts, np.int64))


def unpack_rows(packed: bytes, sizes: Numbers, starts: Numbers) -> tuple[Numbers, Numbers]:
    """Return the ordinals of rows that follow each other and their counts, each row's ordinals moved by its start.

    They are in any order, but those of one row stand together and ascend. As `unpack_postings` of one
    row after the other, in a few steps for all rows of one width.
    """
    if not len(sizes):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if sizes.min() < _HEADER:
        raise _unreadable("its header is unknown")
    every = np.frombuffer(packed, np.uint8)
    begins = np.cumsum(sizes) - sizes
    widths = every[begins + 1].astype(np.int64)
    if (every[begins] != _VERSION).any() or not _KNOWN[widths].all():
        raise _unreadable("its header is unknown")
    entries, rest = np.divmod(sizes - _HEADER, widths + 1)
    if rest.any():
        raise _unreadable("its length does not fit its entries")
    places, times = [], []
    for width in _WIDTHS:
        rows = np.flatnonzero(widths == width)
        if not len(rows):
            continue
        of_each, begin = entries[rows], begins[rows] + _HEADER
        within = np.arange(of_each.sum()) - np.repeat(np.cumsum(of_each) - of_each, of_each)
        at = np.repeat(begin, of_each) + within * width
        ordinals = every[at].astype(np.int64)
        for byte in range(1, width):
            ordinals |= every[at + byte].astype(np.int64) << 8 * byte
        places.append(ordinals + np.repeat(starts[rows], of_each))
        times.append(every[np.repeat(begin + of_each * width, of_each) + within])
    return np.concatenate(places), np.concatenate(times).astype(np.int64)


def pack_lengths(lengths: Sequence[int]) -> bytes:
    """Pack the length of each passage, in order."""
    return _pack(lengths)


def unpack_lengths(packed: bytes) -> Numbers:
    """Return the length of each passage, in order."""
    width = _width(packed)
    if (len(packed) - _HEADER) % width:
        raise _unreadable("its length does not fit its entries")
    return np.frombuffer(packed, f"<u{width}", -1, _HEADER).astype(np.int64)


def _row(ordinals: Sequence[int] | Numbers, times: Sequence[int] | Numbers) -> bytes:
    return _pack(ordinals) + np.asarray(times, np.uint8).tobytes()


def _pack(numbers: Sequence[int] | Numbers) -> bytes:
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
