"""What is looked at in threads, and deleted, each within one transaction."""

import json
import re
from typing import Any, Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.reach import Reach
from memoranda.graphs.checkpoints import store as kept
from memoranda.graphs.checkpoints.models import At
from memoranda.graphs.holders import store as holders
from memoranda.graphs.threads import store
from memoranda.graphs.threads.models import (
    CheckpointPart,
    CheckpointSummary,
    GraphThread,
    ShownCheckpoint,
)
from memoranda.graphs.threads.store import Part, Place
from memoranda.graphs.threads.windows import pieces, readable, spelled
from memoranda.runs.store import record_activity
from memoranda.storage import Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

PURGED: Final = "graph_thread_purged"
_JOINING: Final = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0653-\u0655]")
"""Marks that would join the letter before them, for which a serializer's lengths and numbers may be taken."""


class Quoting(NamedTuple):
    """A thread that holds a text."""

    user_id: UUID | None
    agent_id: UUID | None
    thread_id: str


def page(
    tx: Transaction, reach: Reach, after: Place, most: int
) -> tuple[list[Place], list[GraphThread]]:
    """Threads within reach, and what is told of each."""
    places = store.names(tx, reach, after, most)
    return places, [store.told(tx, each) for each in places]


def checkpoints(
    tx: Transaction,
    subject: ContextSubject,
    thread_id: str,
    before: tuple[str, str],
    most: int,
) -> list[CheckpointSummary] | None:
    """A thread's checkpoints from behind an id and namespace; None where there is no such thread."""
    holder = holders.find(tx, subject)
    if holder is None:
        return None
    place = Place(holder, thread_id)
    found = store.checkpoints(tx, place, before, most)
    return found if found or _is_there(tx, place) else None


def shown(
    tx: Transaction, subject: ContextSubject, at: At, after: int, most: int
) -> ShownCheckpoint | None:
    """A checkpoint with the pieces of its parts that are asked for; None where it is not there."""
    holder = holders.find(tx, subject)
    there = None if holder is None else store.outline(tx, holder, at)
    if holder is None or there is None:
        return None
    parts = store.parts_of(tx, Place(holder, at.thread_id), there)
    sizes = [part.bytes for part in parts]
    wanted, next_after = pieces(sizes, after, most)
    summary = there.summary
    return ShownCheckpoint(
        thread_id=at.thread_id,
        namespace=summary.namespace,
        checkpoint_id=summary.checkpoint_id,
        parent_id=summary.parent_id,
        run_id=summary.run_id,
        bytes=sum(sizes),
        created_at=summary.created_at,
        parts=[
            piece_of(
                parts[each.part],
                each.begin,
                store.body(tx, parts[each.part], each.begin, each.size) or b"",
            )
            for each in wanted
        ],
        next_after=next_after,
    )


def purge(tx: Transaction, who: Principal, subject: ContextSubject, thread_id: str) -> int:
    """Delete a thread, and have its traces taken out of the files; how many rows."""
    holder = holders.find(tx, subject)
    rows = 0 if holder is None else kept.delete_thread(tx, holder, thread_id)
    if rows:
        record_activity(tx, PURGED, user_id=who.user_id, agent_id=who.agent_id, rows=rows)
        signal(tx, SCRUB)
    return rows


def quoting(tx: Transaction, quotes: Quotes, place: Place) -> Quoting | None:
    """A thread that quotes; None where it does not, or is gone meanwhile."""
    if not _is_there(tx, place) or not _quotes(tx, quotes, place):
        return None
    there = store.told(tx, place)
    return Quoting(there.user_id, there.agent_id, there.thread_id)


def all_parts(tx: Transaction, place: Place) -> list[Part]:
    """All that a thread holds, without the bodies."""
    return list(store.all_parts(tx, place))


def piece_of(part: Part, begin: int, body: bytes) -> CheckpointPart:
    """A piece of a part as it is shown."""
    return CheckpointPart(
        name=part.name,
        format=part.kind,
        bytes=part.bytes,
        begin=begin,
        body=spelled(body),
        text=readable(body),
    )


def said_in(kind: str, body: bytes) -> Any:
    """The strings that a serialized part may hold, whatever its serializer: as JSON where it is JSON."""
    text = body.decode("utf-8", "replace")
    if kind == "json":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return [text, _JOINING.sub(" ", text)]


def _quotes(tx: Transaction, quotes: Quotes, place: Place) -> bool:
    if quotes.are_in(place.thread_id):
        return True
    return any(
        quotes.are_in([part.namespace, part.name, said_in(part.kind, store.body(tx, part) or b"")])
        for part in store.all_parts(tx, place)
    )


def _is_there(tx: Transaction, place: Place) -> bool:
    return next(store.all_parts(tx, place), None) is not None
