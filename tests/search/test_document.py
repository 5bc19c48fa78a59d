"""What a document adds to the index is exactly what its deletion takes away."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.document import Passage, TermCount, count_of, index_document
from memoranda.search.postings import unpack_lengths, unpack_postings
from memoranda.search.weights import REACH

TEXTS = st.lists(st.text(st.sampled_from("ab "), max_size=6), max_size=40)


@given(TEXTS)
def test_every_occurrence_is_in_the_rows(texts: list[str]) -> None:
    indexed = index_document(Passage(text) for text in texts)
    assert indexed.passages == len(texts)
    assert unpack_lengths(indexed.lengths).tolist() == [len(text.split()) for text in texts]
    for term, packed in indexed.postings.items():
        ordinals, _ = unpack_postings(packed)
        assert ordinals.tolist() == [
            ordinal for ordinal, text in enumerate(texts) if term in text.split()
        ]


@given(TEXTS)
def test_windows_are_counted_as_far_as_they_reach_within_the_document(texts: list[str]) -> None:
    indexed = index_document(Passage(text) for text in texts)
    for term, count in indexed.counts.items():
        holding = {ordinal for ordinal, text in enumerate(texts) if term in text.split()}
        reached = {
            ordinal
            for ordinal in range(len(texts))
            if any(abs(ordinal - at) <= REACH for at in holding)
        }
        assert count == TermCount(len(holding), len(reached), 1)
        assert count == count_of(indexed.postings[term], indexed.passages)


def test_a_document_without_passages_is_an_empty_row() -> None:
    indexed = index_document([])
    assert (indexed.passages, indexed.tokens, dict(indexed.postings)) == (0, 0, {})


def test_counts_of_documents_add_up() -> None:
    assert TermCount(1, 3, 1) + TermCount(2, 4, 1) == TermCount(3, 7, 2)
