"""Labelled files are read strictly, and split so that a query never changes sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.calibration import DEFAULT
from memoranda.search.embedders.port import Matrix
from memoranda.search.labelled import Pair, figures, fit_to, halves, read_pairs
from memoranda.words.errors import Invalid, NotFound

LINE = '{"query": "q", "memory": "m", "relevant": true}'


class Counted:
    """An embedder of two dimensions that tells texts apart by their first letter."""

    model = "counted"
    dimensions = 2
    calibration = DEFAULT

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: list[str]) -> Matrix:
        self.asked += texts
        return np.array([[1, 0] if text[0] == "a" else [0, 1] for text in texts], np.float32)


def pair(query: str, memory: str, *, relevant: bool) -> Pair:
    return Pair(query=query, memory=memory, relevant=relevant)


def test_each_line_is_one_pair_and_empty_lines_are_skipped(tmp_path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{LINE}\n\n  \n{LINE}\n", "utf-8")
    assert read_pairs(path) == [pair("q", "m", relevant=True)] * 2


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "[]",
        "{}",
        '{"query": "q", "memory": "m"}',
        '{"query": " ", "memory": "m", "relevant": true}',
        '{"query": "q", "memory": "m", "relevant": "yes"}',
        '{"query": "q", "memory": "m", "relevant": 1}',
        '{"query": "q", "memory": "m", "relevant": true, "weight": 2}',
    ],
)
def test_a_wrong_line_is_named(tmp_path, line) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{LINE}\n{line}\n", "utf-8")
    with pytest.raises(Invalid, match="Line 2 ") as raised:
        read_pairs(path)
    assert raised.value.details == {"line": 2}


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    for name in ("missing", "binary"):
        with pytest.raises(NotFound):
            read_pairs(tmp_path / name)


@given(
    st.lists(
        st.builds(
            Pair, query=st.sampled_from("abcdefgh"), memory=st.just("m"), relevant=st.booleans()
        )
    )
)
def test_every_pair_is_on_one_side_and_a_query_on_one_alone(pairs) -> None:
    fitting, checking = halves(pairs)
    assert sorted([*fitting, *checking], key=repr) == sorted(pairs, key=repr)
    assert not {each.query for each in fitting} & {each.query for each in checking}


def test_a_query_never_changes_sides() -> None:
    sides = halves([pair(str(number), "m", relevant=True) for number in range(8)])
    assert [[each.query for each in side] for side in sides] == [
        ["2", "3"],
        ["0", "1", "4", "5", "6", "7"],
    ]


async def test_a_curve_is_fitted_to_pairs_and_each_text_embedded_once() -> None:
    embedder = Counted()
    pairs = [
        pair("a query", "a memory", relevant=True),
        pair("a query", "b memory", relevant=False),
        pair("b query", "a memory", relevant=False),
    ]
    curve = await fit_to(embedder, pairs)
    assert curve.score(0.0) < 0.5 < curve.score(1.0)
    assert sorted(embedder.asked) == ["a memory", "a query", "b memory", "b query"]


def test_precision_and_recall_are_shares_of_what_is_shown_and_wanted() -> None:
    pairs = [pair("q", name, relevant=name in "abc") for name in "abcde"]
    found = figures([0.9, 0.8, 0.1, 0.7, 0.2], pairs, 0.55)
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(2 / 3)
    nothing = figures([0.0] * 5, pairs, 0.55)
    assert (nothing.precision, nothing.recall) == (1.0, 0.0)
