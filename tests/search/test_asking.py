"""Whatever an embedder does, who asks it gets checked vectors or one kind of error."""

import asyncio
import time

import numpy as np
import pytest

from memoranda.search.embedders.asking import ask
from memoranda.words.errors import Invalid, Unavailable
from tests.search.made_up_embedder import MadeUp

TEXTS = ["oolong tea", "green kayak"]


async def test_good_vectors_pass() -> None:
    rows = await ask(MadeUp(), TEXTS)
    assert rows.shape == (2, 64)
    assert rows.dtype == np.float32


async def test_zeros_pass_because_they_are_near_nothing() -> None:
    embedder = MadeUp()
    embedder.unreadable = lambda _: True
    assert not (await ask(embedder, TEXTS)).any()


@pytest.mark.parametrize(
    "answer",
    [
        np.zeros((1, 64)),
        np.zeros((3, 64)),
        np.zeros((2, 0)),
        np.zeros(2),
        np.full((2, 64), np.nan),
        np.full((2, 64), np.inf),
        np.full((2, 64), 1.0),
        "nonsense",
        None,
    ],
)
async def test_what_is_no_matrix_of_unit_rows_is_refused(answer: object) -> None:
    embedder = MadeUp()
    embedder.answer = answer if answer is not None else [[1.0], [0.0, 1.0]]
    with pytest.raises(Unavailable):
        await ask(embedder, TEXTS)


@pytest.mark.parametrize("failure", [ValueError("oolong"), MemoryError(), Invalid("Set it.")])
async def test_any_failure_is_unavailable_and_quotes_no_text(failure: Exception) -> None:
    embedder = MadeUp()
    embedder.failure = failure
    with pytest.raises(Unavailable) as raised:
        await ask(embedder, TEXTS)
    assert "oolong" not in raised.value.message


async def test_nobody_waits_for_ever() -> None:
    embedder = MadeUp()
    embedder.gate = asyncio.Event()
    begun = time.monotonic()
    with pytest.raises(Unavailable) as raised:
        await ask(embedder, TEXTS, within_s=0.05)
    assert time.monotonic() - begun < 2
    assert raised.value.details["reason"] == "TimeoutError"
