"""How postings and lengths are written into rows: little-endian numbers behind a version byte."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.words.errors import Invalid

Numbers = NDArray[np.int64]

_VERSION: Final = 1
_WIDTHS: Final = (1, 2, 4)
_KNOWN: Final = np.isin(np.arange(256), _WIDTHS)
_LARGEST: Final = (1 << 32) - 1
HEADER: Final = 2
"""So many bytes of a row come before its numbers."""
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
    ordinals = np.frombuffer(packed, f"<u{width}", entries, HEADER)
    times = np.frombuffer(packed, np.uint8, entries, HEADER + entries * width)
    return ordinals.astype(np.int64), times.astype(np.int64)


def split_postings(packed: bytes, most: int = MOST_BYTES) -> list[bytes]:
    """Return the row in parts of at most `most` bytes, each a row by itself: almost always in one."""
    if len(packed) <= most:
        return [packed]
    width = _width(packed)
    ordinals, times = unpack_postings(packed)
    blocks = ordinals >> BLOCK_BITS
    parts, start, at_once = [], 0, (most - HEADER) // (width + 1)
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
    """The ordinals of rows that are not joined yet, each row's moved by its start, and their counts."""
    sizes = np.fromiter(map(len, packed), np.int64, len(packed))
    rows = unpack_rows(b"".join(packed), sizes)
    return rows.ordinals + np.repeat(np.asarray(starts, np.int64), rows.entries), rows.times


class Unpacked(NamedTuple):
    """How many passages each row tells of; their ordinals and counts, row after row."""

    entries: Numbers
    ordinals: Numbers
    times: Numbers


def unpack_rows(packed: bytes, sizes: Numbers) -> Unpacked:
    """Unpack rows that follow each other: as `unpack_postings` of one after the other, all in a few steps."""
    every = np.frombuffer(packed, np.uint8)
    begins, widths = headers(every, sizes)
    entries, rest = np.divmod(sizes - HEADER, widths + 1)
    if rest.any():
        raise _unreadable("its length does not fit its entries")
    within, first = counted(entries), np.repeat(begins + HEADER, entries)
    width = np.repeat(widths, entries)
    ordinals = numbers_at(every, first + within * width, width)
    times = every[first + np.repeat(entries * widths, entries) + within]
    return Unpacked(entries, ordinals, times.astype(np.int64))


def pack_lengths(lengths: Sequence[int]) -> bytes:
    """Pack the length of each passage, in order."""
    return _pack(lengths)


def unpack_lengths(packed: bytes) -> Numbers:
    """Return the length of each passage, in order."""
    every = np.frombuffer(packed, np.uint8)
    sizes = np.array([len(packed)])
    [begin], [width] = headers(every, sizes)
    [entries] = lengths_in(sizes, np.array([width]))
    at = begin + HEADER + np.arange(entries) * width
    return numbers_at(every, at, np.full(entries, width))


def lengths_in(sizes: Numbers, widths: Numbers) -> Numbers:
    """How many lengths rows of so many bytes hold."""
    entries, rest = np.divmod(sizes - HEADER, widths)
    if rest.any():
        raise _unreadable("its length does not fit its entries")
    return entries


def headers(every: NDArray[np.uint8], sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Where each of the rows begins that follow each other, and how wide its numbers are."""
    begins = np.cumsum(sizes) - sizes
    if not len(sizes):
        return begins, begins
    if sizes.min() < HEADER:
        raise _unreadable("its header is unknown")
    widths = every[begins + 1].astype(np.int64)
    if (every[begins] != _VERSION).any() or not _KNOWN[widths].all():
        raise _unreadable("its header is unknown")
    return begins, widths


def counted(sizes: Numbers) -> Numbers:
    """From 0 on for each of these sizes, one after the other."""
    numbers: Numbers = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return numbers


def numbers_at(every: NDArray[np.uint8], at: Numbers, widths: Numbers) -> Numbers:
    """The numbers that begin at these bytes, each as wide as is said."""
    numbers = every[at].astype(np.int64)
    for byte in range(1, int(widths.max(initial=1))):
        wider = np.flatnonzero(widths > byte)
        numbers[wider] |= every[at[wider] + byte].astype(np.int64) << 8 * byte
    return numbers


def _row(ordinals: Sequence[int] | Numbers, times: Sequence[int] | Numbers) -> bytes:
    return _pack(ordinals) + np.asarray(times, np.uint8).tobytes()


def _pack(numbers: Sequence[int] | Numbers) -> bytes:
    largest = max(numbers, default=0)
    if largest > _LARGEST or min(numbers, default=0) < 0:
        raise ValueError(f"postings hold numbers from 0 to {_LARGEST}")
    width = next(width for width in _WIDTHS if largest < 1 << 8 * width)
    return bytes((_VERSION, width)) + np.asarray(numbers, f"<u{width}").tobytes()


def _width(packed: bytes) -> int:
    if len(packed) < HEADER or packed[0] != _VERSION or packed[1] not in _WIDTHS:
        raise _unreadable("its header is unknown")
    return packed[1]


def _entries(packed: bytes, width: int) -> int:
    entries, rest = divmod(len(packed) - HEADER, width + 1)
    if rest:
        raise _unreadable("its length does not fit its entries")
    return entries


def _unreadable(reason: str) -> UnreadablePostings:
    return UnreadablePostings(
        f"A row of the search index can't be read: {reason}. Build the index again."
    )
