"""Times are aware and in UTC; ids sort by the time they were made."""

from datetime import timedelta

from memoranda.words.clock import system_clock
from memoranda.words.ids import new_id


def test_the_system_clock_is_aware_and_in_utc() -> None:
    assert system_clock().utcoffset() == timedelta(0)


def test_ids_are_of_version_7_distinct_and_in_order() -> None:
    ids = [new_id() for _ in range(1000)]
    assert {one.version for one in ids} == {7}
    assert len(set(ids)) == 1000
    assert ids == sorted(ids)
