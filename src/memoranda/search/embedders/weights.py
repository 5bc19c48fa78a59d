"""Reads the arrays out of an ONNX file: only its stored tensors, so that no runtime is needed for them."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

_GRAPH: Final = 7  # ModelProto.graph
_INITIALIZER: Final = 5  # GraphProto.initializer
_DIMENSIONS, _KIND, _NAME, _RAW = 1, 2, 8, 9  # TensorProto
_KINDS: Final[Mapping[int, str]] = {1: "<f4", 3: "<i1", 7: "<i8"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Array = NDArray[np.generic]


def read_arrays(data: bytes) -> dict[str, Array]:
    """Return the tensors that an ONNX model stores, by name, in its order, without copying them.

    Tensors of other kinds than 32-bit floats, bytes and 64-bit integers are left out.
    Raises `ValueError` where `data` is no such file.
    """
    arrays: dict[str, Array] = {}
    try:
        for graph in _parts(memoryview(data), _GRAPH):
            for tensor in _parts(graph, _INITIALIZER):
                _put(arrays, tensor)
    except (IndexError, TypeError, UnicodeDecodeError) as error:
        raise ValueError("This is no ONNX file.") from error
    return arrays


def _put(arrays: dict[str, Array], tensor: memoryview) -> None:
    shape: list[int] = []
    name, kind, raw = "", 0, None
    for field, value in _fields(tensor):
        if field == _DIMENSIONS:
            shape += [value] if isinstance(value, int) else _packed(value)
        elif field == _KIND and isinstance(value, int):
            kind = value
        elif field == _NAME and isinstance(value, memoryview):
            name = str(value, "utf-8")
        elif field == _RAW and isinstance(value, memoryview):
            raw = value
    if raw is not None and kind in _KINDS:
        arrays[name] = np.frombuffer(raw, _KINDS[kind]).reshape(shape)


def _parts(message: memoryview, wanted: int) -> Iterator[memoryview]:
    return (
        value
        for field, value in _fields(message)
        if field == wanted and isinstance(value, memoryview)
    )


def _packed(value: memoryview) -> list[int]:
    numbers = []
    place = 0
    while place < len(value):
        number, place = _number(value, place)
        numbers.append(number)
    return numbers


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield each field of a protobuf message: its number, and a number or the bytes that it holds."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            number, place = _number(message, place)
            yield field, number
            continue
        if wire == _BYTES:
            length, place = _number(message, place)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"A field of kind {wire} is not expected in an ONNX file.")
        if place + length > len(message):
            raise ValueError("The ONNX file ends too early.")
        yield field, message[place : place + length]
        place += length


def _number(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return value, place
        shift += 7
