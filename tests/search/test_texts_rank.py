"""How short texts are ranked: in [0, 1], by shared words alone, in no order of their own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.terms import Query, read_passage, read_query, telling_terms
from memoranda.search.texts.rank import TextHit, grouped, promising, rank, unsure
from memoranda.search.texts.scale import scale

WORDS = [
    "oak",
    "invoice",
    "Leeds",
    "delivered",
    "the",
    "not",
    "東京",
    "東京都庁",
    "猫",
    "don't",
    "été",
]
SAID = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
TEXTS = st.lists(SAID, min_size=1, max_size=8)
COUNTS = st.dictionaries(
    st.sampled_from(sorted(read_passage(" ".join(WORDS)).counts)), st.integers(0, 200)
)
TOTALS = st.integers(0, 200)
LIMITS = st.sampled_from([0.0, 0.05, SEARCH_SCORE, RECALL_SCORE, 0.99, 1.0])


def ids(count: int) -> list[UUID]:
    return [UUID(int=number) for number in range(1, count + 1)]


class Corpus:
    """Texts as the store hands them over: which hold which terms, and how long they are."""

    def __init__(self, query: str, texts: Mapping[UUID, str]) -> None:
        self.query: Query = read_query(query)
        read = {item_id: read_passage(text) for item_id, text in texts.items()}
        holding = {
            item_id: self.query.terms.keys() & terms.counts for item_id, terms in read.items()
        }
        self.groups = grouped({item_id: held for item_id, held in holding.items() if held})
        self.lengths = {
            item_id: len(telling_terms(terms.counts)) for item_id, terms in read.items()
        }

    def ranked(
        self, counts: Mapping[str, int], total: int, *, at_least: float = 0.0
    ) -> list[TextHit]:
        weights = scale(self.query.terms, counts, total)
        return rank(self.query, self.groups, self.lengths, weights, at_least=at_least)


def ranked(
    query: str,
    texts: Sequence[str],
    counts: Mapping[str, int],
    total: int,
    *,
    at_least: float = 0.0,
) -> list[TextHit]:
    corpus = Corpus(query, dict(zip(ids(len(texts)), texts, strict=True)))
    return corpus.ranked(counts, total, at_least=at_least)


def score(
    query: str, text: str, counts: Mapping[str, int] | None = None, total: int = 100
) -> float:
    hits = ranked(query, [text], counts or {}, total)
    return hits[0].score if hits else 0.0


@given(SAID, TEXTS, COUNTS, TOTALS)
def test_a_score_is_between_zero_and_one(query, texts, counts, total) -> None:
    for hit in ranked(query, texts, counts, total):
        assert 0.0 <= hit.score <= 1.0


@given(SAID, TEXTS, COUNTS, TOTALS)
def test_the_best_come_first_and_equal_ones_by_id(query, texts, counts, total) -> None:
    hits = ranked(query, texts, counts, total)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.item_id))


@given(SAID, TEXTS, COUNTS, TOTALS, st.randoms())
def test_no_order_of_texts_terms_or_counts_matters(query, texts, counts, total, chance) -> None:
    numbered = list(zip(ids(len(texts)), texts, strict=True))
    expected = Corpus(query, dict(numbered)).ranked(counts, total)
    chance.shuffle(numbered)
    words = query.split()
    chance.shuffle(words)
    mixed = list(counts.items())
    chance.shuffle(mixed)
    found = Corpus(" ".join(words), dict(numbered)).ranked(dict(mixed), total)
    assert [(hit.item_id, hit.score) for hit in found] == [
        (hit.item_id, hit.score) for hit in expected
    ]


def test_texts_that_hold_the_same_words_are_one_group() -> None:
    one, other, third = ids(3)
    groups = grouped({one: ["oak", "ash"], other: {"ash", "oak"}, third: ["oak"]})
    assert groups == {("ash", "oak"): [one, other], ("oak",): [third]}


@given(SAID, SAID, COUNTS, TOTALS, st.data())
def test_words_of_the_query_added_to_a_text_never_lower_its_score(
    query, text, counts, total, data
) -> None:
    more = data.draw(st.lists(st.sampled_from(query.split()), min_size=1))
    added = " ".join([text, *more])
    assert score(query, added, counts, total) >= score(query, text, counts, total)


@given(SAID, SAID, COUNTS, TOTALS)
def test_other_words_added_to_a_text_never_raise_its_score(query, text, counts, total) -> None:
    longer = f"{text} quarry zeppelin"
    assert score(query, longer, counts, total) <= score(query, text, counts, total)


@given(SAID, COUNTS, TOTALS)
def test_a_text_that_is_the_query_scores_about_one(query, counts, total) -> None:
    assert score(query, query, counts, total) > 0.997


@given(SAID, TEXTS, COUNTS, TOTALS)
def test_only_what_shares_a_word_is_a_hit_and_says_which(query, texts, counts, total) -> None:
    hits = {hit.item_id: hit for hit in ranked(query, texts, counts, total)}
    asked = read_query(query).terms.keys()
    for item_id, text in zip(ids(len(texts)), texts, strict=True):
        shared = asked & read_passage(text).counts.keys()
        assert (item_id in hits) == bool(shared)
        if shared:
            said = read_query(" ".join(hits[item_id].words)).terms.keys()
            assert hits[item_id].words
            assert said <= shared or said == asked


@given(SAID, TEXTS, COUNTS, TOTALS, LIMITS)
def test_what_scores_enough_is_among_the_promising(query, texts, counts, total, at_least) -> None:
    corpus = Corpus(query, dict(zip(ids(len(texts)), texts, strict=True)))
    weights = scale(corpus.query.terms, counts, total)
    likely = promising(corpus.groups, weights, at_least=at_least)
    hits = corpus.ranked(counts, total, at_least=at_least)
    assert {hit.item_id for hit in hits} <= {item_id for _, item_id in likely}
    for term, item_id in likely:
        assert any(term in terms and item_id in items for terms, items in corpus.groups.items())


@given(SAID, TEXTS, COUNTS, TOTALS, LIMITS)
def test_the_lengths_of_those_that_are_unsure_are_all_it_takes(
    query, texts, counts, total, at_least
) -> None:
    corpus = Corpus(query, dict(zip(ids(len(texts)), texts, strict=True)))
    weights = scale(corpus.query.terms, counts, total)
    open_ones = {item_id for _, item_id in unsure(corpus.groups, weights, at_least=at_least)}
    some = {item_id: corpus.lengths[item_id] for item_id in open_ones}
    found = rank(corpus.query, corpus.groups, some, weights, at_least=at_least)
    assert found == corpus.ranked(counts, total, at_least=at_least)


def test_a_rare_word_says_more_than_a_common_one() -> None:
    counts = {"leed": 3, "invoic": 90}
    rare, common = (score("invoice Leeds", text, counts) for text in ("Leeds", "invoice"))
    assert rare > common


def test_most_of_a_query_is_found_and_half_of_it_is_not() -> None:
    assert score("oak table delivered", "the oak table is here", total=1_000) >= SEARCH_SCORE
    assert score("oak table", "an oak by the road to the north mill", total=1_000) < SEARCH_SCORE


TASK = """Write to the depot in Leeds that two lorries come on Monday. They carry oak tables, so
somebody with a fork lift has to be there before noon. Ask who signs, and where the empty crates go."""


def test_a_long_task_brings_back_a_short_text() -> None:
    short = "The Leeds depot has no fork lift"
    assert score(TASK, short, total=1_000) >= RECALL_SCORE
    assert score(TASK, "Leeds is rainy in autumn", total=1_000) < SEARCH_SCORE


def test_in_a_longer_task_the_same_words_say_less() -> None:
    text = "Oak has to rest before it is cut, or the tables warp"
    pages = " ".join(f"word{number}" for number in range(600))
    assert score(f"{TASK} {pages}", text, total=1_000) < score(TASK, text, total=1_000)


def test_one_word_of_many_is_no_reason_to_recall() -> None:
    assert score(TASK, "tables", {"tabl": 50}, total=1_000) < RECALL_SCORE


def test_the_first_texts_are_found_as_later_ones_are() -> None:
    few = ["The Leeds depot has no fork lift", "My favorite editor is Helix"]
    counts = Counter(term for text in few for term in read_passage(text).counts)
    hits = ranked(TASK, few, counts, len(few), at_least=RECALL_SCORE)
    assert [hit.item_id for hit in hits] == ids(1)


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("Deliveries to LEEDS", "a delivery in Leeds", ("Deliveries", "LEEDS")),
        ("東京の天気予報", "東京は雨", ("東京",)),
        ("東京の天気予報", "天気予報が好き", ("天気", "気予", "予報")),
        ("天気予報", "天気予報が好き", ("天気予報",)),
        ("1,000 Cafés", "a cafe for 1000", ("1000", "Cafés")),
        ("ﾃﾞｰﾀ", "データを保存する", ("データ",)),
        ("Straße, straße", "strasse", ("strasse",)),
        ("memory:safe", "a safe place", ("safe",)),
    ],
)
def test_a_hit_names_the_words_as_they_were_typed(query, text, words) -> None:
    assert ranked(query, [text], {}, 10)[0].words == words
