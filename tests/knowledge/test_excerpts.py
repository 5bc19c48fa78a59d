"""Neighbors are joined, bounds hold, and better results come before worse ones."""

from collections.abc import Callable
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memoranda.knowledge.excerpts import Excerpt, _join, _touches, excerpts
from memoranda.knowledge.models import SearchResult
from memoranda.words.ref import ResourceRef

ONE, TWO = UUID(int=1), UUID(int=2)
PLACES = st.lists(st.tuples(st.sampled_from([ONE, TWO]), st.integers(0, 9)), unique=True)


def found(source: UUID, ordinal: int, text: str = "", **more: str) -> SearchResult:
    return SearchResult(
        ref=ResourceRef(kind="chunk", id=f"{source.int}-{ordinal}"),
        source_id=source,
        ordinal=ordinal,
        external_id=None,
        title="Guide",
        place=more.get("place", ""),
        speaker=more.get("speaker"),
        at=more.get("at"),
        text=text or f"t{ordinal}",
        score=0.5,
    )


def cost(excerpt: Excerpt) -> int:
    return 5 + 3 * len(excerpt.chunks)


def ordinals(made: list[Excerpt]) -> list[list[int]]:
    return [[chunk.ordinal for chunk in excerpt.chunks] for excerpt in made]


def excerpts_by_looking_at_all(
    ranked: list[SearchResult], limit: int, budget: int, cost: Callable[[Excerpt], int]
) -> list[Excerpt]:
    """What `excerpts` promises, in the plainest way."""
    taken: list[Excerpt] = []
    for chunk in ranked:
        beside = [excerpt for excerpt in taken if _touches(excerpt, chunk)]
        place = taken.index(beside[0]) if beside else len(taken)
        tried = [excerpt for excerpt in taken if excerpt not in beside]
        tried.insert(place, _join(beside, chunk))
        if len(tried) <= limit and sum(map(cost, tried)) <= budget:
            taken = tried
    return taken


def test_adjacent_chunks_of_one_source_are_one_excerpt_in_their_order() -> None:
    made = excerpts([found(ONE, 4), found(ONE, 9), found(ONE, 3), found(ONE, 5)])
    assert ordinals(made) == [[3, 4, 5], [9]]
    assert made[0].best.ordinal == 4


def test_chunks_of_two_sources_are_never_joined() -> None:
    assert ordinals(excerpts([found(ONE, 4), found(TWO, 5)])) == [[4], [5]]


def test_neighbors_under_two_headings_or_of_two_sittings_stay_apart() -> None:
    assert ordinals(excerpts([found(ONE, 4, place="Refunds"), found(ONE, 5, place="Terms")])) == [
        [4],
        [5],
    ]
    assert ordinals(excerpts([found(ONE, 4, at="May"), found(ONE, 5, at="June")])) == [[4], [5]]


def test_joined_lines_of_plain_text_are_named_from_first_to_last() -> None:
    made = excerpts([found(ONE, 4, place="lines 3-9"), found(ONE, 5, place="line 10")])
    assert [excerpt.title for excerpt in made] == ["Guide, lines 3-10"]


def test_a_chunk_between_two_excerpts_joins_them_at_the_better_place() -> None:
    made = excerpts([found(ONE, 1), found(TWO, 7), found(ONE, 3), found(ONE, 2)])
    assert ordinals(made) == [[1, 2, 3], [7]]
    assert made[0].best.ordinal == 1


def test_a_neighbor_needs_no_place_of_its_own() -> None:
    ranked = [found(ONE, 1), found(ONE, 5), found(ONE, 2), found(ONE, 8)]
    assert ordinals(excerpts(ranked, limit=1)) == [[1, 2]]


def test_what_is_too_large_is_passed_over_for_what_still_fits() -> None:
    ranked = [found(ONE, 1), found(ONE, 5, "x" * 99), found(ONE, 8)]
    made = excerpts(ranked, budget=10, cost=lambda excerpt: len(excerpt.body))
    assert ordinals(made) == [[1], [8]]


def test_no_budget_and_no_place_give_nothing() -> None:
    assert excerpts([found(ONE, 1)], budget=0, cost=cost) == []
    assert excerpts([found(ONE, 1)], limit=0) == []


@given(PLACES, st.integers(0, 6), st.integers(0, 60))
def test_bounds_hold_and_no_two_excerpts_touch(places, limit: int, budget: int) -> None:
    ranked = [found(*place) for place in places]
    made = excerpts(ranked, limit=limit, budget=budget, cost=cost)
    assert len(made) <= limit
    assert sum(map(cost, made)) <= budget
    kept = [(chunk.source_id, chunk.ordinal) for excerpt in made for chunk in excerpt.chunks]
    assert len(kept) == len(set(kept))
    edges = {(e.chunks[0].source_id, e.chunks[0].ordinal - 1) for e in made}
    assert not edges & set(kept)


@given(
    PLACES,
    st.integers(0, 8),
    st.integers(0, 90),
    st.lists(st.sampled_from(["", "Terms", "line 3"]), min_size=20),
)
def test_the_edges_find_the_neighbors_that_looking_at_all_finds(
    places, limit: int, budget: int, headings: list[str]
) -> None:
    named = zip(places, headings, strict=False)
    ranked = [found(*place, at="May" if place[1] > 7 else "", place=name) for place, name in named]
    made = excerpts(ranked, limit=limit, budget=budget, cost=cost)
    assert made == excerpts_by_looking_at_all(ranked, limit, budget, cost)


@given(PLACES)
def test_excerpts_come_in_the_order_of_their_best_chunks(places) -> None:
    ranked = [found(*place) for place in places]
    made = excerpts(ranked)
    assert sum(len(excerpt.chunks) for excerpt in made) == len(ranked)
    firsts = [min(map(ranked.index, excerpt.chunks)) for excerpt in made]
    assert firsts == sorted(firsts)
    assert [ranked[first] for first in firsts] == [excerpt.best for excerpt in made]


def test_a_title_says_where_and_a_body_says_who() -> None:
    turns = [
        found(ONE, 1, "Hello", speaker="Ada", at="8 May 2023"),
        found(ONE, 2, "Hi", speaker="Max", at="8 May 2023"),
    ]
    (made,) = excerpts(turns)
    assert made.title == "Guide, 8 May 2023"
    assert made.body == "Ada: Hello\nMax: Hi"
    assert excerpts([found(ONE, 1, place="Install > Linux")])[0].title == "Guide, Install > Linux"
    assert excerpts([found(ONE, 1)])[0].title == "Guide"
