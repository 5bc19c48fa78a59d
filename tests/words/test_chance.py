"""Those who wait don't all come back at once."""

from memoranda.words.chance import spread


def test_a_pause_is_half_of_what_it_may_be_at_least_and_no_two_are_alike() -> None:
    pauses = [spread(8.0) for _ in range(200)]
    assert all(4 <= pause <= 8 for pause in pauses)
    assert len(set(pauses)) > 190
    assert max(pauses) - min(pauses) > 2
