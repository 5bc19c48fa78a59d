"""Which memories say the same: nine restatements of a fact do, and a contradiction never does."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.memories.proposals.reading import opposed, read, same
from memoranda.memories.proposals.tidy import MOST_MERGED, Held, Merge, Nearness, merges
from memoranda.search.embedders.bundled import find_bundled
from tests.memories.tidy_texts import CHECKED, FITTED, Fact

MEMORIES = Path(__file__).parents[2] / "bench" / "data" / "memories.txt"


def held(number: int, text: str, **changes) -> Held:
    plain = Held(
        id=UUID(int=number),
        version=1,
        text_id=UUID(int=number),
        text=text,
        title=None,
        category=None,
        tags=(),
        expires_at=None,
        pinned=False,
        subject_key=None,
        uses=0,
    )
    return plain._replace(**changes)


def all_held(texts: Sequence[str]) -> list[Held]:
    return [held(number, text) for number, text in enumerate(texts, start=1)]


def members(merge: Merge) -> set[str]:
    return {merge.survivor.text, *(each.text for each in merge.others)}


def groups(texts: Sequence[str], nearness: Nearness | None = None) -> list[set[str]]:
    return [members(merge) for merge in merges(all_held(texts), nearness)]


async def nearness_of(texts: Sequence[str]) -> Nearness:
    embedder = find_bundled()
    assert embedder is not None
    rows = await embedder.embed(texts)
    ids = [each.id for each in all_held(texts)]
    return Nearness(dict(zip(ids, rows, strict=True)), embedder.calibration.score)


# --- what is found ----------------------------------------------------------------------------


def test_nine_restatements_of_one_fact_are_one_merge() -> None:
    (found,) = groups(FITTED[0].said)
    assert found == set(FITTED[0].said)


def test_most_restatements_are_found_by_words_alone_and_more_with_an_embedder_s_word() -> None:
    def share(facts: Sequence[Fact]) -> float:
        largest = [max(map(len, groups(fact.said)), default=0) for fact in facts]
        return sum(largest) / sum(len(fact.said) for fact in facts)

    assert share(FITTED) >= 0.8
    assert share(CHECKED) >= 0.75


async def test_an_embedder_vouches_for_words_that_add_nothing() -> None:
    texts = ["The user works as a nurse", "User is a nurse"]
    assert groups(texts) == []
    assert groups(texts, await nearness_of(texts)) == [set(texts)]
    far = Nearness({UUID(int=1): np.eye(1, 2, 0)[0], UUID(int=2): np.eye(1, 2, 1)[0]}, lambda c: c)
    assert groups(texts, far) == []


def test_an_embedder_vouches_for_no_other_word() -> None:
    one = np.ones(1, np.float32)
    for texts in (
        ["The user wants to be a nurse", "The user is a nurse"],
        ["The user prefers tea", "The user prefers coffee"],
        ["Ich esse Fleisch", "Ich esse kein Fleisch"],
        ["The user works as a nurse", "User is called a nurse"],
    ):
        near = Nearness({UUID(int=1): one, UUID(int=2): one}, lambda cosine: cosine)
        assert groups(texts, near) == []


# --- what never is ----------------------------------------------------------------------------


@pytest.mark.parametrize("fact", [*FITTED, *CHECKED], ids=lambda fact: fact.said[0])
async def test_what_sounds_like_a_fact_and_says_something_else_is_never_taken_for_it(
    fact: Fact,
) -> None:
    texts = [*fact.said, *fact.others]
    for nearness in (None, await nearness_of(texts)):
        for group in groups(texts, nearness):
            assert group <= set(fact.said) or group <= set(fact.others)


async def test_180_memories_of_a_person_and_a_company_have_no_false_duplicate() -> None:
    texts = MEMORIES.read_text().splitlines()
    assert len(texts) == 180
    assert groups(texts) == []
    assert groups(texts, await nearness_of(texts)) == []


CONTRADICTIONS = """
My name is Anna|My name is Ben
The shop is open|The shop is not open
The shop is open|The shop isn't open
I can swim|I can't swim
Alcohol: no|Alcohol
I don't always eat breakfast|I don't eat breakfast
Not all rooms have wifi|No rooms have wifi
Some rooms have wifi|All rooms have wifi
I no longer drink|I drink
I used to smoke|I smoke
I was a vegetarian|I am a vegetarian
I will move to York|I moved to York
I may move to York|I move to York in May
I want a dog|I have a dog
I need a dog|I have a dog
Is the user vegetarian?|The user is vegetarian
Only Anna signs|Anna signs
Anna and Ben sign|Anna or Ben sign
Anna signs unless Ben is there|Anna signs if Ben is there
The price is with VAT|The price is without VAT
Meetings start before noon|Meetings start after noon
Meetings start at noon|Meetings end at noon
Pay by Friday|Pay on Friday
Pay within 30 days|Pay in 30 days
Pay in 30 days|Pay in 30 weeks
Turn the heater on|Turn the heater off
More than 15 guests|Less than 15 guests
It costs $5|It costs €5
It costs $5|It costs 5%
Version 1.5|Version 15
Version 1.5|Version 5.1
The deadline is 12/04/2026|The deadline is 04/12/2026
The office is at -5 degrees|The office is at 5 degrees
My blood type is O-|My blood type is O+
Write in C|Write in C#
The flight is at 6 am|The flight is at 6 pm
The office has two floors|The office is on the second floor
Call me Jo, not Joanna|Call me Joanna, not Jo
Ask before, not after|Ask after, not before
Flights from Leeds to York|Flights from York to Leeds
Tea is better than coffee|Coffee is better than tea
Liam manages Evie|Evie manages Liam
Liam manages Evie|Liam is managed by Evie
Liam is Evie's manager|Evie is Liam's manager
I am Anna's manager|Anna is my manager
Liam is a manager|Liam has a manager
Sam manages us|We manage Sam
Sam is managing us|We manage Sam
Anna likes Ben|Ben likes Anna
anna likes ben|ben likes anna
the supplier pays the customer|the customer pays the supplier
The supplier is paid by the customer|The supplier pays the customer
The support team is run by Marta|The support team runs Marta
Send invoices to Anna|Anna sends invoices
My wife is allergic to nuts|I am allergic to nuts
He is allergic to nuts|I am allergic to nuts
Red is stop, green is go|Red is go, green is stop
Closed on Monday and open on Tuesday|Closed on Tuesday and open on Monday
The room in York is at 6 for Ben|The room for York is at 6 in Ben
I live in the US|I live in
IT approves invoices|It approves invoices
The file is a/b|The file is b/a
我喜欢茶|我不喜欢茶
Ich esse Fleisch|Ich esse kein Fleisch
Je mange de la viande|Je ne mange pas de viande
Я люблю чай|Я не люблю чай
私はお茶が好きです|私はお茶が好きではありません
"""


@pytest.mark.parametrize("pair", CONTRADICTIONS.split("\n")[1:-1])
def test_a_contradiction_is_never_merged(pair: str) -> None:
    one, other = pair.split("|")
    near = Nearness({UUID(int=n): np.ones(1, np.float32) for n in (1, 2)}, lambda cosine: cosine)
    assert groups([one, other], near) == []


FRAMES = ("{}", "{}.", "The user said that {}", "Please note: {}", "{}!", "I mentioned {}", "  {} ")
FILLED = {
    "the depot opens at {} on weekdays": ("7", "8", "10", "7:30", "7.5", "17", "70"),
    "we meet on {} in room four": ("Monday", "Tuesday", "the 1st", "the 2nd", "3 May", "5 March"),
    "the crate weighs 20 {}": ("kg", "pounds", "grams", "tons", "%"),
    "the gate {} locked at night": ("is", "is not", "isn't", "was", "will be", "is never half"),
    "the report is {} the meeting": ("before", "after", "during", "about", "until", "without"),
    "the {} team pays the bill": ("first", "second", "sales", "old", "new", "wrong"),
    "the shop is {} on Sunday": ("open", "closed", "full", "empty", "cheap", "expensive"),
    "{} reports to Evie": ("Liam", "Anna", "nobody", "everybody", "Ben"),
}


@given(
    template=st.sampled_from(sorted(FILLED)),
    frames=st.tuples(st.sampled_from(FRAMES), st.sampled_from(FRAMES)),
    data=st.data(),
)
def test_texts_with_other_numbers_dates_units_negations_or_opposites_are_never_merged(
    template: str, frames: tuple[str, str], data: st.DataObject
) -> None:
    fills = data.draw(
        st.lists(st.sampled_from(FILLED[template]), min_size=2, max_size=2, unique=True)
    )
    one, other = (
        frame.format(template.format(fill)) for frame, fill in zip(frames, fills, strict=True)
    )
    assert groups([one, other]) == []
    framed = (frames[0].format(template.format(fills[0])), template.format(fills[0]).upper())
    assert groups(framed) in ([], [set(framed)])


# --- how groups are made ------------------------------------------------------------------------

TEXTS = [text for fact in FITTED for text in (*fact.said, *fact.others)]
some_texts = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=30, unique=True)


@given(texts=some_texts, order=st.randoms())
def test_the_order_in_which_memories_come_decides_nothing(texts: list[str], order) -> None:
    memories = all_held(texts)
    shuffled = order.sample(memories, len(memories))
    assert merges(shuffled) == merges(memories) == merges(memories)


@given(texts=some_texts)
def test_no_memory_is_in_two_merges_and_none_joins_what_is_opposed(texts: list[str]) -> None:
    found = merges(all_held(texts))
    ids = [each.id for merge in found for each in (merge.survivor, *merge.others)]
    assert len(ids) == len(set(ids))
    for merge in found:
        assert merge.others
        for one, other in combinations(sorted(members(merge)), 2):
            assert not opposed(read(one), read(other))


@given(one=st.text(max_size=60), other=st.sampled_from(TEXTS))
def test_any_text_can_be_read_and_saying_the_same_goes_both_ways(one: str, other: str) -> None:
    ours, theirs = read(one), read(other)
    assert same(ours, theirs) == same(theirs, ours)
    assert opposed(ours, theirs) == opposed(theirs, ours)
    assert not opposed(ours, ours)
    assert not (same(ours, theirs) and opposed(ours, theirs))


@given(pair=st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)))
def test_what_is_opposed_never_says_the_same(pair: tuple[str, str]) -> None:
    ours, theirs = map(read, pair)
    assert not (same(ours, theirs) and opposed(ours, theirs))


def test_a_vague_text_joins_no_two_that_are_opposed() -> None:
    texts = ["The user is a client", "Client", "User has a client"]
    assert [same(read(texts[1]), read(each)) for each in texts] == [True] * 3
    assert groups(texts) == [set(texts[:2])]


def test_a_merge_is_bounded_and_takes_the_newest() -> None:
    texts = ["likes tea" + " " * n + "!" * n for n in range(MOST_MERGED + 20)]
    (merge,) = merges(all_held(texts))
    assert len(merge.others) + 1 == MOST_MERGED
    assert min(each.id.int for each in (merge.survivor, *merge.others)) == 21


def test_texts_of_marks_alone_are_never_merged() -> None:
    assert groups(["!!!", "...", "?!", "—", "it is", "so it is"]) == []


def test_memories_that_last_differently_long_are_left_apart() -> None:
    ends = datetime(2030, 1, 1, tzinfo=UTC)
    one, other = held(1, "likes tea"), held(2, "Likes tea.", expires_at=ends)
    assert merges([one, other]) == []
    assert len(merges([one._replace(expires_at=ends), other])) == 1


# --- what a merge says --------------------------------------------------------------------------


def test_the_oldest_memory_stays_unless_a_key_a_pin_or_its_use_speaks_for_another() -> None:
    def stays(**changes) -> int:
        three = [held(1, "likes tea"), held(2, "Likes tea."), held(3, "likes tea!", **changes)]
        (merge,) = merges(three)
        assert len(merge.others) == 2
        return merge.survivor.id.int

    assert stays() == 1
    assert [stays(subject_key="user:1:preference.tea"), stays(pinned=True), stays(uses=1)] == [
        3,
        3,
        3,
    ]


def test_two_memories_with_keys_are_never_merged() -> None:
    keyed = [held(n, "likes tea" + "." * n, subject_key=f"user:1:preference.{n}") for n in (1, 2)]
    assert merges(keyed) == []
    (merge,) = merges([*keyed, held(3, "Likes tea")])
    assert len(merge.others) == 1


async def test_a_merge_says_all_that_its_memories_said() -> None:
    texts = ["User is a nurse", "The user works as a nurse"]
    one, other = all_held(texts)
    one = one._replace(tags=("job",), title=None, category="work")
    other = other._replace(tags=("person", "job"), title="Nurse", category="people")
    (merge,) = merges([one, other], await nearness_of(texts))
    assert merge.survivor == one
    assert merge.text == "The user works as a nurse"
    assert (merge.title, merge.category, merge.tags) == ("Nurse", "work", ("job", "person"))


def test_the_text_that_stays_is_the_survivor_s_own_where_no_other_says_more() -> None:
    (merge,) = merges([held(1, "likes tea"), held(2, "Likes tea."), held(3, "likes tea!")])
    assert merge.text == "likes tea"
