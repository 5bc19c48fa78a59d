"""What the tree of a chat promises: paths, versions, branches, and which runs a move leaves."""

from typing import NamedTuple
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.chats import tree


class Node(NamedTuple):
    id: UUID
    parent_id: UUID | None
    sequence: int
    run_id: UUID | None


class Run(NamedTuple):
    id: UUID
    message_id: UUID
    answer_id: UUID | None
    revision: int


def at(number: int | None) -> UUID | None:
    return None if number is None else UUID(int=number)


def node(number: int, parent: int | None = None, run: int | None = None) -> Node:
    return Node(UUID(int=number), at(parent), number, at(run))


def run(number: int, message: int, answer: int | None = None) -> Run:
    return Run(UUID(int=number), UUID(int=message), at(answer), number)


def nodes(*each: Node) -> dict[UUID, Node]:
    return {one.id: one for one in each}


def numbers(found: list[Node] | list[Run] | list[UUID]) -> list[int]:
    return [(each if isinstance(each, UUID) else each.id).int for each in found]


# 1 asks; 2 and 3 answer it; below 2 somebody asks 4, and 5 answers; 6 is beside 4.
TALK = nodes(node(1), node(2, 1, 102), node(3, 1, 103), node(4, 2), node(5, 4, 105), node(6, 2))
RUNS = [run(102, 1, 2), run(103, 1, 3), run(105, 4, 5), run(106, 6)]


def test_a_path_goes_from_the_first_message_to_the_leaf() -> None:
    assert numbers(tree.path(TALK, at(5))) == [1, 2, 4, 5]
    assert numbers(tree.path(TALK, at(3))) == [1, 3]
    assert tree.path(TALK, None) == []


def test_versions_are_what_stands_below_one_message_the_oldest_first() -> None:
    versions = tree.versions(reversed(TALK.values()))
    assert {key and key.int: numbers(ids) for key, ids in versions.items()} == {
        None: [1],
        1: [2, 3],
        2: [4, 6],
        4: [5],
    }


def test_the_newest_leaf_of_a_branch_is_its_newest_message_and_no_other_branchs() -> None:
    assert tree.newest_leaf(TALK, UUID(int=1)).int == 6
    assert tree.newest_leaf(TALK, UUID(int=2)).int == 6
    assert tree.newest_leaf(TALK, UUID(int=3)).int == 3
    assert tree.newest_leaf(TALK, UUID(int=4)).int == 5


def test_a_run_stands_for_the_answer_that_is_shown_and_not_for_one_beside_it() -> None:
    assert numbers(tree.standing(tree.path(TALK, at(5)), RUNS)) == [102, 105]
    assert numbers(tree.standing(tree.path(TALK, at(3)), RUNS)) == [103]


def test_a_message_without_an_answer_stands_with_its_last_run_that_had_none() -> None:
    shown = tree.path(TALK, at(6))
    assert numbers(tree.standing(shown, RUNS)) == [102, 106]
    assert numbers(tree.standing(shown, [*RUNS, run(107, 6)])) == [102, 107]
    assert numbers(tree.standing(shown, [run(107, 6), *RUNS])) == [102, 107]


def test_a_message_that_was_followed_by_another_without_an_answer_keeps_its_run() -> None:
    talk = nodes(node(1), node(2, 1, 102), node(3, 1), node(4, 3, 104))
    runs = [run(102, 1, 2), run(103, 1), run(104, 3, 4)]
    assert numbers(tree.standing(tree.path(talk, at(4)), runs)) == [103, 104]


def test_a_run_whose_answer_is_not_shown_never_stands_for_a_message_without_one() -> None:
    talk = nodes(node(1), node(2, 1, 103), node(3, 1))
    shown = tree.path(talk, at(3))
    assert numbers(tree.standing(shown, [run(102, 1), run(103, 1, 2)])) == [102]


def test_where_nothing_is_shown_no_run_stands() -> None:
    assert tree.standing([], RUNS) == []


def test_a_crossing_names_what_is_left_and_what_is_come_to_in_the_order_of_the_path() -> None:
    long, short = (tree.standing(tree.path(TALK, at(leaf)), RUNS) for leaf in (5, 3))
    there = tree.crossing(long, short)
    assert (numbers(there.left), numbers(there.entered)) == ([102, 105], [103])
    back = tree.crossing(short, long)
    assert (numbers(back.left), numbers(back.entered)) == ([103], [102, 105])
    assert tree.crossing(long, long) == tree.Crossing([], [])


def test_what_agents_were_not_told_is_all_behind_the_last_answer_that_was_saved() -> None:
    shown = tree.path(TALK, at(5))
    assert numbers(tree.untold(shown, {UUID(int=105)})) == []
    assert numbers(tree.untold(shown, {UUID(int=102)})) == [4, 5]
    assert numbers(tree.untold(shown, set())) == [1, 2, 4, 5]


@given(st.lists(st.integers(min_value=0, max_value=20), min_size=1, max_size=20))
def test_every_branch_ends_in_a_leaf_of_its_own(parents: list[int]) -> None:
    made = [
        node(number, parent if 0 < parent < number else None)
        for number, parent in enumerate(parents, 1)
    ]
    talk = nodes(*made)
    below = tree.versions(made)
    for each in made:
        leaf = tree.newest_leaf(talk, each.id)
        assert leaf not in below, "nothing stands below it"
        assert each in tree.path(talk, leaf)
        inside = [one for one in made if each in tree.path(talk, one.id)]
        assert leaf == max(inside, key=lambda one: one.sequence).id
