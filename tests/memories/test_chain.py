"""What a write does to a chain, against a model that keeps nothing but what is live."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.memories import chain
from memoranda.memories.chain import Head
from memoranda.words.errors import Conflict, DuplicateMemory
from memoranda.words.ids import new_id

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def head(*, live: bool = True, expires_in_hours: float | None = None) -> Head:
    ends = None if expires_in_hours is None else NOW + timedelta(hours=expires_in_hours)
    return Head(new_id(), new_id(), 3, live=live, expires_at=ends, created_at=NOW)


def test_the_first_statement_begins_a_chain() -> None:
    assert chain.parent_of_next(None, same_text=False, now=NOW) is None


def test_a_different_text_comes_after_the_head() -> None:
    present = head()
    assert chain.parent_of_next(present, same_text=False, now=NOW) is present


def test_the_same_text_is_refused_with_the_memory_that_says_it() -> None:
    present = head()
    with pytest.raises(DuplicateMemory) as refused:
        chain.parent_of_next(present, same_text=True, now=NOW)
    assert refused.value.details == {"memory_id": str(present.memory_id), "version": 3}


@pytest.mark.parametrize(
    "gone", [head(live=False), head(expires_in_hours=0), head(expires_in_hours=-1)]
)
def test_a_tombstone_and_an_expired_memory_hold_no_text(gone: Head) -> None:
    assert chain.parent_of_next(gone, same_text=True, now=NOW) is gone


def test_a_memory_that_expires_later_still_holds_its_text() -> None:
    with pytest.raises(DuplicateMemory):
        chain.parent_of_next(head(expires_in_hours=0.001), same_text=True, now=NOW)


def test_a_tombstone_follows_a_memory_once() -> None:
    present = head()
    assert chain.parent_of_tombstone(present) is present
    with pytest.raises(Conflict, match="forgotten already"):
        chain.parent_of_tombstone(head(live=False))


def test_what_is_forgotten_may_come_back_for_thirty_days_and_no_longer_than_it_would_have_lasted() -> (
    None
):
    assert chain.restorable_until(NOW, None) == NOW + timedelta(days=30)
    assert chain.restorable_until(NOW, NOW + timedelta(days=31)) == NOW + timedelta(days=30)
    assert chain.restorable_until(NOW, NOW + timedelta(days=2)) == NOW + timedelta(days=2)


def test_nothing_that_ends_stays_pinned() -> None:
    pinned = chain.first(new_id(), new_id(), expires_at=None, now=NOW, pinned=True)
    assert pinned.pinned
    assert not pinned.followed_by(new_id(), live=False).pinned


SAYINGS = st.tuples(st.sampled_from("ab"), st.sampled_from([None, 1, 5]))
WRITES = st.lists(st.tuples(st.one_of(SAYINGS, st.none()), st.integers(0, 3)), max_size=30)


@given(WRITES)
def test_a_chain_says_what_a_plain_variable_would_say(writes: list) -> None:
    """Each write is (text, hours it lasts) or None to forget, after some hours have gone by."""
    present: Head | None = None
    text, now = None, NOW
    held: tuple[str, datetime | None] | None = None  # the model: what is held, and until when
    revisions = 0
    for write, hours in writes:
        now += timedelta(hours=hours)
        if held is not None and held[1] is not None and held[1] <= now:
            held = None
        if write is None:
            if present is None:
                continue
            if present.live:
                parent = chain.parent_of_tombstone(present)
                present, text = parent.followed_by(new_id(), live=False), None
                held, revisions = None, revisions + 1
            else:
                with pytest.raises(Conflict):
                    chain.parent_of_tombstone(present)
        else:
            said, lasts = write
            ends = None if lasts is None else now + timedelta(hours=lasts)
            if held is not None and held[0] == said:
                with pytest.raises(DuplicateMemory):
                    chain.parent_of_next(present, same_text=text == said, now=now)
                continue
            parent = chain.parent_of_next(present, same_text=text == said, now=now)
            present = (
                chain.first(new_id(), new_id(), expires_at=ends, now=now)
                if parent is None
                else parent.followed_by(new_id(), expires_at=ends)
            )
            text, held, revisions = said, (said, ends), revisions + 1
        assert present.version == revisions
        assert present.holds(now) == (held is not None)
