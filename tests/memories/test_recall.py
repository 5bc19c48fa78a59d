"""What of the memories that a run may be given has room in its block."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.memories.finding.block import ABOUT, CLOSING, NO_ROOM, NOTHING, OPENING, write_block
from memoranda.memories.finding.recall import LEAST_TOKENS, MAX_TOKENS, Kept, Offered, keep
from memoranda.memories.models import Match
from memoranda.words.tokens import estimate_tokens
from tests.memories.remembered import a_memory


def offers(*texts: str, score: float = 0.9) -> list[Offered]:
    """Memories found, the first with the highest score."""
    return [
        Offered(
            a_memory(text, number),
            Match(score=score - number / 1000, meaning=None, words=(), literal=False),
        )
        for number, text in enumerate(texts, 1)
    ]


def pins(*texts: str) -> list[Offered]:
    return [Offered(a_memory(text, 1000 + n, pinned=True)) for n, text in enumerate(texts)]


def cost(some: list[Offered]) -> int:
    return estimate_tokens(write_block([offer.memory for offer in some]))


def texts(kept: Kept) -> list[str | None]:
    return [offer.memory.text for offer in kept.offers]


def test_what_has_room_is_kept_in_its_order_pinned_first() -> None:
    kept = keep(pins("p1", "p2"), offers("a", "b"))
    assert texts(kept) == ["p1", "p2", "a", "b"]
    assert kept.dropped == 0
    assert kept.block == write_block([offer.memory for offer in kept.offers])


def test_nothing_found_is_said_aloud() -> None:
    kept = keep([], [])
    assert kept == Kept(write_block([]), [], estimate_tokens(write_block([])), 0)
    assert NOTHING in kept.block


def test_the_lowest_scores_are_dropped_first_and_whole() -> None:
    found = offers("a" * 400, "b" * 400, "c" * 400, "d" * 4)
    kept = keep([], found, max_tokens=cost(found[:2]) + 20)
    assert texts(kept) == ["a" * 400, "b" * 400]
    assert kept.dropped == 2, "the short last one goes before the third, whose score is higher"


def test_everything_found_goes_before_a_pinned_memory_does() -> None:
    pinned = pins("p" * 400, "q" * 400)
    kept = keep(pinned, offers("a" * 40), max_tokens=cost(pinned))
    assert texts(kept) == ["p" * 400, "q" * 400]
    assert kept.dropped == 1


def test_of_pinned_memories_that_are_too_much_alone_the_newest_stay() -> None:
    pinned = pins("new" * 100, "older" * 60, "oldest" * 50)
    kept = keep(pinned, offers("a" * 40), max_tokens=cost(pinned) - 1)
    assert texts(kept) == ["new" * 100, "older" * 60]
    assert kept.dropped == 2


def test_one_that_could_never_fit_takes_no_other_with_it() -> None:
    kept = keep(pins("x" * 8000, "small"), offers("y" * 8000, "near"))
    assert texts(kept) == ["small", "near"]
    assert kept.dropped == 2


def test_a_block_that_had_room_for_none_does_not_say_that_there_was_nothing() -> None:
    kept = keep([], offers("z" * 8000))
    assert (kept.offers, kept.dropped) == ([], 1)
    assert NO_ROOM in kept.block
    assert NOTHING not in kept.block


def test_a_block_with_no_memory_has_room_in_the_least_that_may_be_asked_for() -> None:
    assert keep([], []).tokens <= LEAST_TOKENS
    assert keep([], offers("z" * 8000), max_tokens=LEAST_TOKENS).tokens <= LEAST_TOKENS


def test_twenty_full_memories_pass_the_limit_and_the_block_does_not() -> None:
    kept = keep(pins(*["p" * 500] * 20), offers(*["a" * 500] * 8))
    assert kept.tokens <= MAX_TOKENS
    assert (len(kept.offers), kept.dropped) == (9, 19)


TEXT = st.one_of(st.text(min_size=1, max_size=60), st.text("字🙂a\n", min_size=1, max_size=300))
SOME = st.lists(TEXT, max_size=12)


@given(SOME, SOME, st.integers(LEAST_TOKENS, 400))
def test_figures_are_of_the_final_text_and_the_most_that_fits_is_kept(
    pinned: list[str], found: list[str], max_tokens: int
) -> None:
    every = [*pins(*pinned), *offers(*found)]
    kept = keep(pins(*pinned), offers(*found), max_tokens=max_tokens)
    assert kept.tokens == estimate_tokens(kept.block) <= max_tokens
    assert len(kept.offers) == kept.block.count("\n- ") == len(every) - kept.dropped
    # In their order, and nothing that could have stayed is gone.
    alone = [each for each in every if cost([each]) <= max_tokens]
    count = len(kept.offers)
    assert list(kept.offers) == alone[:count]
    assert count == len(alone) or cost(alone[: count + 1]) > max_tokens


def test_any_estimator_holds_the_block_to_its_limit() -> None:
    kept = keep([], offers("a b c", "d e f", "g h i"), max_tokens=70, estimator=len)
    assert kept.tokens == len(kept.block)
    assert (kept.offers, kept.dropped) == ([], 3)
    frame = len(f"{OPENING}\n{ABOUT}\n{CLOSING}")
    kept = keep([], offers("a b c", "d e f", "g h i"), max_tokens=frame + 16, estimator=len)
    assert texts(kept) == ["a b c", "d e f"]
