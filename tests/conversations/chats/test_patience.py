"""A run is ended once nobody will finish it, and not a moment earlier."""

from datetime import UTC, datetime, timedelta

import pytest

from memoranda.conversations.chats.live.patience import (
    LEFT,
    QUEUED,
    SILENT,
    WAITED,
    Ending,
    Patience,
    Standing,
    ending_of,
)
from memoranda.conversations.chats.models import ChatRunStatus
from memoranda.words.ids import new_id

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
PATIENCE = Patience(
    queued=timedelta(minutes=1),
    silent=timedelta(minutes=2),
    waiting=timedelta(minutes=3),
    stopping=timedelta(minutes=4),
)


@pytest.mark.parametrize(
    ("status", "longest", "ending"),
    [
        (ChatRunStatus.QUEUED, PATIENCE.queued, Ending(ChatRunStatus.FAILED, QUEUED)),
        (ChatRunStatus.RUNNING, PATIENCE.silent, Ending(ChatRunStatus.FAILED, SILENT)),
        (ChatRunStatus.WAITING, PATIENCE.waiting, Ending(ChatRunStatus.FAILED, WAITED)),
        (ChatRunStatus.STOPPING, PATIENCE.stopping, Ending(ChatRunStatus.STOPPED, LEFT)),
    ],
)
def test_each_status_has_its_own_patience(
    status: ChatRunStatus, longest: timedelta, ending: Ending
) -> None:
    almost = Standing(new_id(), status, NOW - longest + TICK)
    assert ending_of(almost, NOW, PATIENCE) is None
    assert ending_of(almost._replace(seen_at=NOW - longest), NOW, PATIENCE) == ending
