"""What is done with a subject's checkpoints, each within one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from memoranda.graphs.checkpoints import store
from memoranda.graphs.checkpoints.models import (
    At,
    KeptCheckpoint,
    NewCheckpoint,
    StartedFrom,
    Write,
)
from memoranda.graphs.checkpoints.store import After, Outlined
from memoranda.graphs.errors import NeedsWhatCameBefore
from memoranda.graphs.holders import store as holders
from memoranda.storage import Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.words.subject import ContextSubject

ROOT: Final = ""
"""The namespace of a thread's own graph; those of subgraphs have names."""


def keep(tx: Transaction, subject: ContextSubject, new: NewCheckpoint) -> None:
    """Keep a checkpoint."""
    store.keep(tx, holders.make(tx, subject), new)


def write(
    tx: Transaction,
    subject: ContextSubject,
    at: At,
    task: tuple[str, str],
    writes: Sequence[Write],
) -> None:
    """Keep what a task wrote."""
    store.write(tx, holders.make(tx, subject), at, task, writes)


def find(tx: Transaction, subject: ContextSubject, at: At) -> KeptCheckpoint | None:
    """The checkpoint, if the subject has it."""
    holder = holders.find(tx, subject)
    return None if holder is None else store.find(tx, holder, at)


def page(
    tx: Transaction,
    subject: ContextSubject,
    thread_id: str | None,
    namespace: str | None,
    *,
    after: After,
    most: int,
) -> list[KeptCheckpoint]:
    """A page of the subject's checkpoints."""
    holder = holders.find(tx, subject)
    return (
        []
        if holder is None
        else store.page(tx, holder, thread_id, namespace, after=after, most=most)
    )


def delete_thread(tx: Transaction, subject: ContextSubject, thread_id: str) -> None:
    """Delete a thread."""
    delete_threads(tx, subject, [thread_id])


def delete_threads(tx: Transaction, subject: ContextSubject, thread_ids: Iterable[str]) -> None:
    """Delete threads, and have their traces taken out of the files; in one order, so that nobody waits crosswise."""
    holder = holders.find(tx, subject)
    if holder is None:
        return
    if sum([store.delete_thread(tx, holder, each) for each in sorted(set(thread_ids))]):
        signal(tx, SCRUB)


def copy_thread(tx: Transaction, subject: ContextSubject, source: str, target: str) -> None:
    """Put all of a thread into another."""
    holder = holders.find(tx, subject)
    if holder is not None:
        store.copy_thread(tx, holder, source, target)


def delete_runs(tx: Transaction, subject: ContextSubject, run_ids: Sequence[str]) -> None:
    """Delete what these runs made."""
    holder = holders.find(tx, subject)
    if holder is None:
        return
    made = store.of_runs(tx, holder, run_ids)
    for thread_id in sorted(made):
        for namespace, there in _by_namespace(store.outline(tx, holder, thread_id)).items():
            gone = [each.checkpoint_id for each in there if each.checkpoint_id in made[thread_id]]
            left = [each.channels for each in there if each.checkpoint_id not in made[thread_id]]
            if gone:
                store.drop(tx, holder, thread_id, namespace, gone=gone, left=left)


def keep_latest(
    tx: Transaction,
    subject: ContextSubject,
    thread_ids: Iterable[str],
    started_from: StartedFrom | None,
) -> None:
    """Delete all but the latest of each namespace. Raises `NeedsWhatCameBefore`."""
    holder = holders.find(tx, subject)
    if holder is None:
        return
    for thread_id in sorted(set(thread_ids)):
        there = store.outline(tx, holder, thread_id)
        if any(each.partial for each in there):
            raise NeedsWhatCameBefore(
                f"The thread {thread_id[:80]!r} is read from several checkpoints, and none of them can "
                "go: delete the thread, or leave it out.",
                thread_id=thread_id,
            )
        spaces = _by_namespace(there)
        gone_roots = {each.checkpoint_id for each in spaces.get(ROOT, [])[:-1]}
        for namespace, some in spaces.items():
            *old, latest = some
            if started_from is not None and gone_roots and namespace != ROOT:
                head = store.find(tx, holder, At(thread_id, namespace, latest.checkpoint_id))
                if head is not None and started_from(head) in gone_roots:
                    store.delete_namespace(tx, holder, thread_id, namespace)
                    continue
            if old:
                gone = [each.checkpoint_id for each in old]
                store.drop(tx, holder, thread_id, namespace, gone=gone, left=[latest.channels])


def _by_namespace(there: Sequence[Outlined]) -> Mapping[str, list[Outlined]]:
    return {name: list(some) for name, some in groupby(there, lambda each: each.namespace)}
