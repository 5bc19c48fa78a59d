"""Ranking: what comes first, what never matters, and that windows stay in their documents."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search import lexical
from memoranda.search.candidates import Candidates
from memoranda.search.document import IndexedDocument, Passage, TermCount, index_document
from memoranda.search.lexical import Corpus, Hit, Judged, Words, judge, rank
from memoranda.search.terms import Query, read_query
from memoranda.search.weights import REACH, WEIGHTS
from tests.search.candidates_of import candidates_of

FILLER = "nothing of note here"
TEXTS = st.lists(st.text(st.sampled_from("abc "), max_size=8), max_size=8)


def totals(documents: Sequence[IndexedDocument]) -> tuple[dict[str, TermCount], Corpus]:
    counts: dict[str, TermCount] = {}
    for document in documents:
        for term, count in document.counts.items():
            counts[term] = counts[term] + count if term in counts else count
    return counts, Corpus(
        sum(document.passages for document in documents),
        sum(document.tokens for document in documents),
    )


def candidates(documents: Sequence[IndexedDocument]) -> Candidates:
    return candidates_of((UUID(int=number), each) for number, each in enumerate(documents))


def search(query: str, *documents: Sequence[str | Passage], limit: int = 100) -> list[Hit]:
    indexed = [
        index_document(Passage(text) if isinstance(text, str) else text for text in document)
        for document in documents
    ]
    counts, corpus = totals(indexed)
    return rank(read_query(query), candidates(indexed), counts, corpus, limit=limit)


def places(hits: Sequence[Hit]) -> list[tuple[int, int]]:
    return [(hit.document_id.int, hit.ordinal) for hit in hits]


def test_the_passage_that_holds_the_words_comes_first_and_its_neighbors_follow() -> None:
    texts = [FILLER] * 4 + ["the blue heron landed"] + [FILLER] * 4
    hits = search("blue heron", texts)
    assert hits[0].ordinal == 4
    assert {hit.ordinal for hit in hits} == {2, 3, 4, 5, 6}


def test_words_spread_over_neighbors_beat_the_same_words_far_apart() -> None:
    texts = ["blue sky", "a heron came", *[FILLER] * 6, "blue", *[FILLER] * 6, "heron"]
    assert {hit.ordinal for hit in search("blue heron", texts)[:2]} == {0, 1}


def test_a_window_never_leaves_its_document() -> None:
    assert places(search("heron", [FILLER, FILLER], ["heron"], [FILLER])) == [(1, 0)]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_hit_has_the_word_within_reach_in_its_own_document(documents: list[list[str]]) -> None:
    for hit in search("a", *documents):
        texts = documents[hit.document_id.int]
        assert hit.ordinal < len(texts)
        window = texts[max(0, hit.ordinal - REACH) : hit.ordinal + REACH + 1]
        assert any("a" in text.split() for text in window)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_every_passage_that_has_a_word_of_the_query_is_a_hit(documents: list[list[str]]) -> None:
    found = set(places(search("b c", *documents)))
    for number, texts in enumerate(documents):
        for ordinal, text in enumerate(texts):
            assert not {"b", "c"} & set(text.split()) or (number, ordinal) in found


@given(st.lists(TEXTS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_candidates_and_of_words_never_matters(documents, random) -> None:
    indexed = [index_document(map(Passage, texts)) for texts in documents]
    counts, corpus = totals(indexed)
    given_order = [(UUID(int=number), each) for number, each in enumerate(indexed)]
    shuffled = random.sample(given_order, len(given_order))
    asked = {"counts": counts, "corpus": corpus, "limit": 9}
    hits = rank(read_query("a b c"), candidates_of(given_order), **asked)
    assert rank(read_query("c b a"), candidates_of(shuffled), **asked) == hits


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(0, 12))
def test_a_limit_cuts_the_same_ranking(documents: list[list[str]], limit: int) -> None:
    assert search("a b", *documents, limit=limit) == search("a b", *documents)[:limit]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_scores_lie_between_0_and_1_and_go_down(documents: list[list[str]]) -> None:
    scores = [hit.score for hit in search("a b", *documents)]
    assert all(0 < score <= 1 and score == round(score, 6) for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_documents_without_a_word_of_the_query_change_nothing_but_the_counts() -> None:
    indexed = [index_document([Passage("blue heron")]), index_document([Passage(FILLER)])]
    counts, corpus = totals(indexed)
    query = read_query("heron")
    both = rank(query, candidates(indexed), counts, corpus, limit=5)
    assert rank(query, candidates(indexed[:1]), counts, corpus, limit=5) == both


def test_equal_scores_go_by_document_and_then_by_ordinal() -> None:
    texts = ["heron", *[FILLER] * 4, "heron"]
    alone = ["heron", *[FILLER] * 5]
    assert places(search("heron", alone, alone))[:2] == [(0, 0), (1, 0)]
    whole = [FILLER] * 3
    assert places(search("heron", [*whole, *texts, *whole]))[:2] == [(0, 3), (0, 8)]


def test_a_full_answer_scores_high_and_a_stray_word_scores_low() -> None:
    texts = ["blue heron nests in reeds", *[FILLER] * 9, "reeds", *[FILLER] * 9]
    full = search("where do blue herons nest", texts)[0].score
    stray = search("reeds quantum chromodynamics lattice", texts)[0].score
    assert full > 0.8
    assert stray < full / 2


class TestSpeakers:
    TURNS = (
        Passage("I painted a heron", speaker="Ada"),
        Passage("I painted a heron", speaker="Max"),
    )

    def test_the_turns_of_the_one_speaker_named_come_first(self) -> None:
        assert search("What heron did Max paint?", self.TURNS)[0].ordinal == 1
        assert search("What heron did Ada paint?", self.TURNS)[0].ordinal == 0

    def test_two_speakers_named_are_none_preferred(self) -> None:
        named = search("heron of Ada and Max", *([turn] for turn in self.TURNS))
        assert len({hit.score for hit in named}) == 1

    def test_first_and_last_name_are_one_speaker(self) -> None:
        turns = [
            Passage("I painted a heron", speaker="John Doe"),
            Passage("I painted a heron", speaker="John Smith"),
        ]
        assert search("heron by John Smith", turns)[0].ordinal == 1

    def test_a_speaker_alone_is_no_answer(self) -> None:
        turns = [Passage("heron", speaker="Ada"), *[Passage(FILLER, speaker="Ada")] * 6]
        query = Query(terms={"heron": 1}, names=("@ada",))
        indexed = [index_document(turns)]
        counts, corpus = totals(indexed)
        hits = rank(query, candidates(indexed), counts, corpus, limit=9)
        assert {hit.ordinal for hit in hits} == {0, 1, 2}


def judged(query: str, *documents: Sequence[str | Passage]) -> Judged | None:
    indexed = [
        index_document(Passage(text) if isinstance(text, str) else text for text in document)
        for document in documents
    ]
    counts, corpus = totals(indexed)
    return judge(read_query(query), candidates(indexed), counts, corpus)


class TestJudging:
    TEXTS = ("the blue heron landed", *[FILLER] * 5, "a heron")

    def test_the_best_are_those_that_a_search_finds(self) -> None:
        judgement = judged("blue heron", self.TEXTS)
        assert judgement is not None
        assert judgement.best(100) == search("blue heron", self.TEXTS)

    def test_each_passage_has_its_share_and_one_without_a_word_has_none(self) -> None:
        judgement = judged("blue heron", self.TEXTS)
        assert judgement is not None
        said = judgement.words([(UUID(int=0), 6), (UUID(int=0), 0), (UUID(int=0), 3)])
        assert [each.ordinal for each in said] == [6, 0, 3]
        assert 1 >= said[1].share > said[0].share > 0
        assert said[2] == Words(UUID(int=0), 3, 0.0)

    @pytest.mark.parametrize("place", [(0, 7), (0, 9), (1, 0), (2, 0)])
    def test_a_passage_that_no_candidate_has_holds_nothing(self, place: tuple[int, int]) -> None:
        judgement = judged("blue heron", self.TEXTS, [])
        assert judgement is not None
        document_id, ordinal = UUID(int=place[0]), place[1]
        assert judgement.words([(document_id, ordinal)]) == [Words(document_id, ordinal, 0.0)]

    def test_the_passages_of_the_named_speaker_are_marked_and_no_share_exceeds_one(self) -> None:
        turns = [Passage("a heron", speaker="Ada"), *[FILLER] * 5, Passage("a heron", speaker="Bo")]
        judgement = judged("heron Ada", turns)
        assert judgement is not None
        ada, bo = judgement.words([(UUID(int=0), 0), (UUID(int=0), 6)])
        assert (ada.theirs, bo.theirs) == (True, False)
        assert ada.share <= 1

    @pytest.mark.parametrize("query", ["", "unknown words only"])
    def test_words_that_stand_nowhere_say_nothing(self, query: str) -> None:
        assert judged(query, self.TEXTS) is None


@pytest.mark.parametrize("query", ["", "?", "unknown words only"])
def test_a_query_that_nothing_answers_finds_nothing(query: str) -> None:
    assert search(query, [FILLER]) == []


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert search("heron") == []
    assert search("heron", []) == []
    assert search("heron", ["heron"], limit=0) == []


def test_the_shares_of_a_score_are_whole() -> None:
    assert WEIGHTS.passage + WEIGHTS.window == pytest.approx(1)
    assert len(WEIGHTS.kernel) == 2 * REACH + 1


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 60))
def test_a_rare_word_and_a_common_one_are_widened_to_the_same(
    texts: list[list[str]], padding: int
) -> None:
    indexed = [
        index_document(Passage(text) for text in [*each, *[FILLER] * padding]) for each in texts
    ]
    counts, corpus = totals(indexed)
    asked = read_query("a b c")
    found = []
    for few in (0, 10**9):  # every word as a rare one, then none
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lexical, "_FEW", few)
            found.append(rank(asked, candidates(indexed), counts, corpus, limit=100))
    assert found[0] == found[1]
