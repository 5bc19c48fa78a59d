"""The verbs of checkpoints: keep one, read it back, list, copy, prune and delete them."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.graphs.checkpoints import changing
from memoranda.graphs.checkpoints.models import (
    At,
    KeptCheckpoint,
    NewCheckpoint,
    StartedFrom,
    Write,
)
from memoranda.graphs.checkpoints.store import After
from memoranda.graphs.limits import LONGEST_ID, LONGEST_NAMESPACE, check_body, name_input
from memoranda.storage import Storage
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count

MOST_LISTED: Final = 1_000
_END: Final = chr(0x10FFFF) * LONGEST_ID
"""Comes after every id that a checkpoint may have."""


@checks_shapes
class GraphCheckpoints:
    """States of a host's threads at their steps, as the host serialized them.

    They are kept per subject, like items: a thread of one is not there for another, whatever its id.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def keep(
        self,
        who: Principal,
        new: NewCheckpoint,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> None:
        """Keep a checkpoint with the values that are new; one with the same id is written over.

        Raises `Invalid`, `OverLimit`, and `NotFound` for a user or agent that is not there.
        """
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        _check_at(At(new.thread_id, new.namespace, new.checkpoint_id))
        for field in ("parent_id", "run_id"):
            if (given := getattr(new, field)) is not None:
                name_input(field, given, limit=LONGEST_ID, blank=True)
        _check_channels(new.channels)
        check_body("checkpoint", new.state.body)
        check_body("metadata", new.metadata.body)
        for each in new.values:
            _check_channels({each.name: each.version})
            check_body(f"values.{each.name}", each.value.body)
        await self._storage.write(organization, changing.keep, subject, new)

    async def write(
        self,
        who: Principal,
        at: At,
        task_id: str,
        writes: Sequence[Write],
        *,
        task_path: str = "",
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> None:
        """Keep what a task wrote after a checkpoint, which may be kept later. Raises as `keep`.

        A place that a task has written to stays as it is, but for those below 0.
        """
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        _check_at(at)
        if at.checkpoint_id is None:
            raise Invalid("A write names the checkpoint that it follows.", field="checkpoint_id")
        name_input("task_id", task_id, limit=LONGEST_ID)
        name_input("task_path", task_path, limit=LONGEST_NAMESPACE, blank=True)
        for each in writes:
            name_input("channel", each.channel)
            check_body(f"writes.{each.channel}", each.value.body)
        task = (task_id, task_path)
        await self._storage.write(organization, changing.write, subject, at, task, writes)

    async def get(
        self,
        who: Principal,
        at: At,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> KeptCheckpoint | None:
        """The checkpoint, or the latest of its thread's namespace where it names none; None where there is none."""
        organization = organization_for(who, Permission.READ_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        _check_at(at)
        return await self._storage.read(organization, changing.find, subject, at)

    async def page(
        self,
        who: Principal,
        *,
        thread_id: str | None = None,
        namespace: str | None = None,
        before: str | None = None,
        after: KeptCheckpoint | None = None,
        limit: int = 50,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> list[KeptCheckpoint]:
        """Checkpoints by their ids, the last first, of the thread and namespace named; all of the subject's, without.

        `before` leaves out those from that id on, and `after` is the last of the page before.
        `limit` is 1 to 1,000.
        """
        organization = organization_for(who, Permission.READ_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        check_count("limit", limit, most=MOST_LISTED)
        for field, given in (("thread_id", thread_id), ("before", before)):
            if given is not None:
                name_input(field, given)
        if namespace is not None:
            name_input("namespace", namespace, limit=LONGEST_NAMESPACE, blank=True)
        start = After(before or _END, _END)
        if after is not None:
            start = After(after.checkpoint_id, after.thread_id, after.namespace)
        return await self._storage.read(
            organization, changing.page, subject, thread_id, namespace, after=start, most=limit
        )

    async def delete_thread(
        self,
        who: Principal,
        thread_id: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> None:
        """Delete a thread's checkpoints with all that belongs to them; one that is not there is no error."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        name_input("thread_id", thread_id)
        await self._storage.write(organization, changing.delete_thread, subject, thread_id)

    async def delete_runs(
        self,
        who: Principal,
        run_ids: Sequence[str],
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> None:
        """Delete the checkpoints that these runs of the host's made."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        for each in run_ids:
            name_input("run_ids", each, limit=LONGEST_ID)
        await self._storage.write(organization, changing.delete_runs, subject, run_ids)

    async def copy_thread(
        self,
        who: Principal,
        source: str,
        target: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> None:
        """Put all of a thread's checkpoints into another thread as well; a thread without any adds nothing."""
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        for field, given in (("source", source), ("target", target)):
            name_input(field, given)
        await self._storage.write(organization, changing.copy_thread, subject, source, target)

    async def prune(
        self,
        who: Principal,
        thread_ids: Sequence[str],
        *,
        keep: Literal["latest", "nothing"] = "latest",
        started_from: StartedFrom | None = None,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
    ) -> None:
        """Leave the latest checkpoint of each namespace of these threads, or none.

        A namespace that `started_from` says was started from a checkpoint which goes, goes with it. Raises `NeedsWhatCameBefore`, and prunes nothing, where one can't be read without what came before it.
        """
        organization = organization_for(who, Permission.WRITE_GRAPHS)
        subject = subject_of(who, agent_id, user_id)
        for each in thread_ids:
            name_input("thread_ids", each)
        if keep == "nothing":
            await self._storage.write(organization, changing.delete_threads, subject, thread_ids)
            return
        await self._storage.write(
            organization, changing.keep_latest, subject, thread_ids, started_from
        )


def _check_at(at: At) -> None:
    name_input("thread_id", at.thread_id)
    name_input("checkpoint_ns", at.namespace, limit=LONGEST_NAMESPACE, blank=True)
    if at.checkpoint_id is not None:
        name_input("checkpoint_id", at.checkpoint_id, limit=LONGEST_ID)


def _check_channels(channels: Mapping[str, str]) -> None:
    for name, version in channels.items():
        name_input("channel", name)
        name_input(f"channel_versions.{name}", version, limit=LONGEST_ID)
