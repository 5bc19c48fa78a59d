"""What changes, as it changes."""

from memoranda.client.call import Call, given


def follow_events(
    *, after: int | None = None, follow: bool = True, last_event_id: int | None = None
) -> Call[str]:
    """Tell what changes, in the order in which it changed, as server-sent events.

    The `id` of an event is its number. Its `data` is JSON: ids, counts and fixed words, and
    never a text. An `event: reset` says that some of what was asked for is gone.
    """
    return Call(
        "GET",
        "/v1/events",
        str,
        query=given(after=after, follow=follow),
        headers=given(**{"Last-Event-ID": last_event_id}),
    )
