"""How long a run may stand still before it is ended for good. Pure."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.conversations.chats.models import ChatRunStatus

QUEUED: Final = "Nothing picked the run up."
SILENT: Final = "The run was not heard of any more."
WAITED: Final = "What the run waited for did not come."
LEFT: Final = "The run was to stop, and its host did not say how far it had come."


class Patience(NamedTuple):
    """How long a run may wait to be picked up, run without a word, wait for somebody, and take to stop."""

    queued: timedelta = timedelta(minutes=10)
    silent: timedelta = timedelta(minutes=15)
    waiting: timedelta = timedelta(days=7)
    stopping: timedelta = timedelta(minutes=1)


PATIENCE: Final = Patience()


class Standing(NamedTuple):
    """What is known of a live run: its status, and since when it stands as it does.

    That is when its host was heard of last, and of one that is to stop, when it was told so.
    """

    run_id: UUID
    status: ChatRunStatus
    seen_at: datetime


class Ending(NamedTuple):
    """How a run that nobody finishes ends, and why."""

    status: ChatRunStatus
    reason: str


def ending_of(run: Standing, now: datetime, patience: Patience) -> Ending | None:
    """How the run is to end by now; None while somebody may still finish it.

    A run that was to stop ends as stopped, and any other as failed.
    """
    longest, ending = _due(run.status, patience)
    return ending if now - run.seen_at >= longest else None


def _due(status: ChatRunStatus, patience: Patience) -> tuple[timedelta, Ending]:
    match status:
        case ChatRunStatus.QUEUED:
            return patience.queued, Ending(ChatRunStatus.FAILED, QUEUED)
        case ChatRunStatus.STOPPING:
            return patience.stopping, Ending(ChatRunStatus.STOPPED, LEFT)
        case ChatRunStatus.WAITING:
            return patience.waiting, Ending(ChatRunStatus.FAILED, WAITED)
        case _:
            return patience.silent, Ending(ChatRunStatus.FAILED, SILENT)
