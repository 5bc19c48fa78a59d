"""Of more documents than a search may look at, those are ranked in which the rare words stand together."""

from collections.abc import Mapping
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.document import TermCount
from memoranda.search.plan import LIMITS, Limits
from memoranda.search.postings import pack_postings
from memoranda.search.rows import each_id
from memoranda.search.shortlist import shortlist as shortlist_of
from tests.search.candidates_of import rows_of

ONE, TWO, THREE = (number.to_bytes(16) for number in (1, 2, 3))
Said = Mapping[bytes, Mapping[str, bytes]]
PLACES = st.dictionaries(st.integers(0, 60), st.integers(1, 3), min_size=1, max_size=6)


def shortlist(
    postings: Said, counts: dict[str, TermCount], passages: int, limits: Limits = LIMITS
) -> list[bytes]:
    """The shortlist of what these documents hold."""
    held: dict[str, list[tuple[UUID, bytes]]] = {}
    for document, terms in postings.items():
        for term, packed in terms.items():
            held.setdefault(term, []).append((UUID(bytes=document), packed))
    rows = {term: rows_of(each) for term, each in held.items()}
    return each_id(shortlist_of(rows, counts, passages, limits))


def in_turn(postings: Said, counts: dict[str, TermCount]) -> list[bytes]:
    """The documents as they come in where one more of them is ranked each time."""
    turns: list[bytes] = []
    for most in range(1, len(postings) + 1):
        listed = shortlist(postings, counts, 1_000, Limits(documents=most))
        assert set(turns) < set(listed)
        turns += [document for document in listed if document not in turns]
    return turns


def of(**passages: int) -> dict[str, TermCount]:
    return {term: TermCount(count, count, count) for term, count in passages.items()}


def at(*ordinals: int) -> bytes:
    return pack_postings(dict.fromkeys(ordinals, 1))


def test_the_document_in_which_the_words_stand_together_comes_first() -> None:
    postings = {
        ONE: {"blue": at(0), "heron": at(40)},
        TWO: {"blue": at(40), "heron": at(41)},
        THREE: {"blue": at(3, 9, 20, 30)},
    }
    assert in_turn(postings, of(blue=6, heron=2)) == [TWO, ONE, THREE]


def test_words_on_both_sides_of_a_block_stand_together_too() -> None:
    postings = {ONE: {"blue": at(3), "heron": at(20)}, TWO: {"blue": at(3), "heron": at(4)}}
    assert in_turn(postings, of(blue=2, heron=2)) == [TWO, ONE]


def test_what_ends_one_document_and_begins_the_next_stands_apart() -> None:
    postings = {ONE: {"blue": at(7)}, TWO: {"heron": at(0)}, THREE: {"blue": at(0), "heron": at(0)}}
    assert in_turn(postings, of(blue=2, heron=2))[0] == THREE


def test_a_rare_word_promises_more_than_a_common_one_however_often_that_is_said() -> None:
    postings = {ONE: {"common": at(*range(8))}, TWO: {"rare": at(9)}}
    assert in_turn(postings, of(common=500, rare=1)) == [TWO, ONE]


def test_the_document_that_says_a_word_most_comes_before_the_first_by_id() -> None:
    postings = {number.to_bytes(16): {"harbor": at(5)} for number in range(1, 9)}
    postings[(9).to_bytes(16)] = {"harbor": pack_postings({5: 4})}
    postings[(10).to_bytes(16)] = {"harbor": at(4, 5)}
    assert in_turn(postings, of(harbor=11))[:3] == [(9).to_bytes(16), (10).to_bytes(16), ONE]


def test_equal_promises_go_by_id() -> None:
    postings = {THREE: {"a": at(1)}, ONE: {"a": at(9)}, TWO: {"a": at(5)}}
    assert in_turn(postings, of(a=3)) == [ONE, TWO, THREE]


def test_documents_are_taken_until_their_passages_are_enough_and_one_at_the_least() -> None:
    postings = {ONE: {"a": at(0, 99)}, TWO: {"a": at(0, 99)}, THREE: {"a": at(0, 99)}}
    counts = of(a=6)
    assert shortlist(postings, counts, 300, Limits(passages=200)) == [ONE, TWO]
    assert shortlist(postings, counts, 300, Limits(passages=1)) == [ONE]
    assert shortlist(postings, counts, 300, Limits(passages=300)) == [ONE, TWO, THREE]
    assert shortlist(postings, counts, 300, Limits(documents=1)) == [ONE]
    assert shortlist({}, counts, 300) == []


@given(
    st.dictionaries(
        st.uuids().map(lambda each: each.bytes),
        st.dictionaries(st.sampled_from("abc"), PLACES, min_size=1),
    )
)
def test_where_there_are_few_passages_every_document_is_ranked_in_any_order(
    said: dict[bytes, dict[str, dict[int, int]]],
) -> None:
    postings = {
        document: {term: pack_postings(places) for term, places in terms.items()}
        for document, terms in said.items()
    }
    counts = of(a=3, b=5, c=9)
    listed = shortlist(postings, counts, 1_000)
    assert listed == sorted(postings)
    assert listed == shortlist(dict(reversed(postings.items())), counts, 1_000)
