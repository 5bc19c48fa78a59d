"""The times of another clock as whole numbers: exactly, in the same order, and alike on both databases. Pure."""

import struct
from typing import Final

_SIGN: Final = 1 << 63


def to_number(time: float) -> int:
    """The number that stands for a time: a later one has a larger number."""
    (bits,) = struct.unpack(">q", struct.pack(">d", time))
    return int(bits) if bits >= 0 else -(int(bits) + _SIGN)


def from_number(number: int) -> float:
    """The time that a number stands for."""
    bits = number if number >= 0 else -number - _SIGN
    (time,) = struct.unpack(">d", struct.pack(">q", bits))
    return float(time)
