"""Stored arrays come out of an ONNX file as they went in, and a damaged file is an error, not a crash."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.embedders.weights import read_arrays


def number(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + number(rest) if rest else bytes([low])


def part(field: int, content: bytes) -> bytes:
    return number(field << 3 | 2) + number(len(content)) + content


def tensor(name: str, array: np.ndarray, kind: int, *, packed: bool) -> bytes:
    dims = (
        part(1, b"".join(map(number, array.shape)))
        if packed
        else b"".join(number(1 << 3) + number(size) for size in array.shape)
    )
    return dims + number(2 << 3) + number(kind) + part(8, name.encode()) + part(9, array.tobytes())


def model(*tensors: bytes) -> bytes:
    other = part(1, b"a node") + number(6 << 3 | 1) + b"8 bytes." + number(6 << 3 | 5) + b"four"
    return number(1 << 3) + number(8) + part(7, other + b"".join(part(5, each) for each in tensors))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("kind", "dtype"), [(1, "<f4"), (3, "<i1"), (7, "<i8")])
def test_arrays_come_out_as_they_went_in(packed, kind, dtype) -> None:
    array = np.arange(300, dtype=dtype).reshape(150, 2)
    found = read_arrays(model(tensor("first", array, kind, packed=packed)))
    assert found["first"].dtype == array.dtype
    assert (found["first"] == array).all()


def test_arrays_keep_their_order_and_other_kinds_are_left_out() -> None:
    one = np.zeros(1, "<f4")
    data = model(
        *(tensor(name, one, kind, packed=False) for name, kind in [("b", 1), ("c", 11), ("a", 1)])
    )
    assert list(read_arrays(data)) == ["b", "a"]


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_arrays_or_an_error(data) -> None:
    with suppress(ValueError):
        assert isinstance(read_arrays(data), dict)


@given(st.integers(1, 60))
def test_a_file_that_was_cut_is_an_error_or_has_less(missing) -> None:
    data = model(tensor("a", np.zeros(9, "<f4"), 1, packed=False))
    with pytest.raises(ValueError, match="ONNX"):
        read_arrays(data[:-missing])
