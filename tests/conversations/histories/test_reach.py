"""What no tip leads to any more, and nothing else, is found."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.histories.reach import unreached


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[UUID, UUID | None], list[UUID]]:
    """Entries, each after an earlier one or none, and some of them as tips."""
    ids = [UUID(int=number) for number in range(1, draw(st.integers(0, 12)) + 1)]
    parents: dict[UUID, UUID | None] = {
        entry: draw(st.sampled_from([None, *ids[:place]])) for place, entry in enumerate(ids)
    }
    return parents, draw(st.lists(st.sampled_from(ids), max_size=3)) if ids else []


@given(trees())
def test_what_is_not_on_the_way_to_a_tip_is_unreached(
    tree: tuple[dict[UUID, UUID | None], list[UUID]],
) -> None:
    parents, tips = tree

    def way(entry: UUID | None) -> list[UUID]:
        return [] if entry is None else [*way(parents[entry]), entry]

    kept = {entry for tip in tips for entry in way(tip)}
    assert unreached(parents, tips) == [entry for entry in parents if entry not in kept]
