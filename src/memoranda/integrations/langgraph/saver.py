"""LangGraph's checkpointer: the states of a subject's threads, kept by Memoranda."""

import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final, Literal
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from memoranda.access.models import Principal
from memoranda.graphs.checkpoints.models import (
    At,
    Channel,
    KeptCheckpoint,
    NewCheckpoint,
    Part,
    Write,
)
from memoranda.graphs.checkpoints.service import GraphCheckpoints
from memoranda.graphs.errors import NeedsWhatCameBefore
from memoranda.integrations.home import Given, Home
from memoranda.words.given import checked

AT_ONCE: Final = 50
"""Checkpoints that are in memory together while a list goes on."""
NEEDS_OLDER: Final = frozenset({"counters_since_delta_snapshot", "delta_writes_versioned"})
"""Metadata of a checkpoint that is read together with those before it."""
CALL: Final = ":"
"""Stands in the namespace of a subgraph's call, before its task's id. One that outlives its calls has none."""
STRATEGIES: Final[Mapping[str, Literal["latest", "nothing"]]] = {
    "keep_latest": "latest",
    "delete": "nothing",
}


class MemorandaSaver(BaseCheckpointSaver[str]):
    """A LangGraph checkpointer over an opened Memoranda, for the user and agent that are named.

    `who` is whom it acts as: the default organization's owner, without. A thread belongs to the subject that
    it was kept for: another subject's thread of the same id is another thread.
    """

    @checked
    def __init__(
        self,
        memoranda: Given,
        who: Principal | None = None,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._home = Home.of(memoranda, who, user_id, agent_id)

    @property
    def _kept(self) -> GraphCheckpoints:
        return self._home.memoranda.graphs.checkpoints

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the latest of its thread and namespace."""
        home = self._home
        found = await home.run(self._kept.get(home.who, _at(config), **home.subject))
        return None if found is None else self._tuple(found)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`aget_tuple`, from another thread than the loop's."""
        home = self._home
        found = home.wait(self._kept.get(home.who, _at(config), **home.subject))
        return None if found is None else self._tuple(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, the latest first, whose metadata is as `filter` says."""
        listing = _Listing(self, config, filter, before, limit)
        while not listing.over:
            page = await self._home.run(listing.page())
            for each in listing.shown(page):
                yield each

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """`alist`, from another thread than the loop's."""
        listing = _Listing(self, config, filter, before, limit)
        while not listing.over:
            yield from listing.shown(self._home.wait(listing.page()))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint after the one that the config names, with those channels' values that are new."""
        home, new = self._home, self._new(config, checkpoint, metadata, new_versions)
        await home.run(self._kept.keep(home.who, new, **home.subject))
        return _config(new.thread_id, new.namespace, new.checkpoint_id)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`aput`, from another thread than the loop's."""
        home, new = self._home, self._new(config, checkpoint, metadata, new_versions)
        home.wait(self._kept.keep(home.who, new, **home.subject))
        return _config(new.thread_id, new.namespace, new.checkpoint_id)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Keep what a task wrote after the checkpoint that the config names."""
        home, made = self._home, self._writes(writes)
        await home.run(
            self._kept.write(
                home.who, _at(config), task_id, made, task_path=task_path, **home.subject
            )
        )

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """`aput_writes`, from another thread than the loop's."""
        home, made = self._home, self._writes(writes)
        home.wait(
            self._kept.write(
                home.who, _at(config), task_id, made, task_path=task_path, **home.subject
            )
        )

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all of a thread."""
        home = self._home
        await home.run(self._kept.delete_thread(home.who, str(thread_id), **home.subject))

    def delete_thread(self, thread_id: str) -> None:
        """`adelete_thread`, from another thread than the loop's."""
        home = self._home
        home.wait(self._kept.delete_thread(home.who, str(thread_id), **home.subject))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that these runs made."""
        home = self._home
        await home.run(self._kept.delete_runs(home.who, _texts(run_ids), **home.subject))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`adelete_for_runs`, from another thread than the loop's."""
        home = self._home
        home.wait(self._kept.delete_runs(home.who, _texts(run_ids), **home.subject))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Put all of a thread into another one as well."""
        home, ends = self._home, (str(source_thread_id), str(target_thread_id))
        await home.run(self._kept.copy_thread(home.who, *ends, **home.subject))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`acopy_thread`, from another thread than the loop's."""
        home, ends = self._home, (str(source_thread_id), str(target_thread_id))
        home.wait(self._kept.copy_thread(home.who, *ends, **home.subject))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Leave the latest checkpoint of each namespace of these threads, or with `delete` none.

        What a subgraph's call kept goes with the checkpoint that it was started from. Raises `ValueError` for another
        strategy; and `NotImplementedError`, as LangGraph's PostgresSaver does, with nothing pruned, where a thread uses a
        DeltaChannel, which is read from several checkpoints.
        """
        await self._home.run(self._pruned(thread_ids, strategy))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`aprune`, from another thread than the loop's."""
        self._home.wait(self._pruned(thread_ids, strategy))

    def get_next_version(self, current: str | None, channel: None) -> str:  # noqa: ARG002 - LangGraph passes it, and has deprecated it
        """A version that sorts after `current` and that no other branch of the thread has."""
        last = 0 if current is None else int(str(current).partition(".")[0])
        return f"{last + 1:032}.{secrets.token_hex(8)}"

    async def _pruned(self, thread_ids: Sequence[str], strategy: str) -> None:
        keep = STRATEGIES.get(strategy)
        if keep is None:
            raise ValueError(f"Unknown prune strategy: {strategy!r}")
        home, threads = self._home, _texts(thread_ids)
        try:
            await self._kept.prune(
                home.who, threads, keep=keep, started_from=self._started_from, **home.subject
            )
        except NeedsWhatCameBefore as error:
            raise NotImplementedError(error.message) from error  # as PostgresSaver, see `aprune`

    def _started_from(self, head: KeptCheckpoint) -> str | None:
        if CALL not in head.namespace:
            return None
        about: Mapping[str, Any] = self._value(head.metadata)
        root = (about.get("parents") or {}).get("")
        return None if root is None else str(root)

    def _new(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> NewCheckpoint:
        at, about = _at(config), get_checkpoint_metadata(config, metadata)
        state: dict[str, Any] = dict(checkpoint)
        values = state.pop("channel_values")
        run_id = about.get("run_id")
        return NewCheckpoint(
            thread_id=at.thread_id,
            namespace=at.namespace,
            checkpoint_id=checkpoint["id"],
            parent_id=at.checkpoint_id,
            run_id=None if run_id is None else str(run_id),
            channels={name: str(each) for name, each in checkpoint["channel_versions"].items()},
            state=self._part(state),
            metadata=self._part(about),
            values=[
                Channel(name, str(version), self._part(values[name]))
                for name, version in new_versions.items()
                if name in values
            ],
            partial=not NEEDS_OLDER.isdisjoint(about)
            or any(isinstance(each, _DeltaSnapshot) for each in values.values()),
        )

    def _writes(self, writes: Sequence[tuple[str, Any]]) -> Sequence[Write]:
        return [
            Write(WRITES_IDX_MAP.get(channel, place), channel, self._part(value))
            for place, (channel, value) in enumerate(writes)
        ]

    def _part(self, value: Any) -> Part:
        return Part(*self.serde.dumps_typed(value))

    def _value(self, part: Part) -> Any:
        return self.serde.loads_typed((part.kind, part.body))

    def _tuple(self, kept: KeptCheckpoint) -> CheckpointTuple:
        state: Checkpoint = self._value(kept.state)
        state["channel_values"] = {name: self._value(part) for name, part in kept.values.items()}
        parent = kept.parent_id
        return CheckpointTuple(
            config=_config(kept.thread_id, kept.namespace, kept.checkpoint_id),
            checkpoint=state,
            metadata=self._value(kept.metadata),
            parent_config=_config(kept.thread_id, kept.namespace, parent) if parent else None,
            pending_writes=[
                (each.task_id, each.channel, self._value(each.value)) for each in kept.writes
            ],
        )


class _Listing:
    """A list that goes on a page at a time, as long as somebody wants more of it."""

    def __init__(
        self,
        saver: MemorandaSaver,
        config: RunnableConfig | None,
        wanted: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        self._saver, self._wanted, self._left = saver, wanted or {}, limit
        asked = config["configurable"] if config else {}
        thread_id = asked.get("thread_id")
        self._thread_id = None if thread_id is None else str(thread_id)
        self._namespace: str | None = asked.get("checkpoint_ns")
        self._only = get_checkpoint_id(config) if config else None
        self._before = get_checkpoint_id(before) if before else None
        self._after: KeptCheckpoint | None = None
        self.over = limit is not None and limit <= 0

    async def page(self) -> Sequence[KeptCheckpoint]:
        """Read the next page."""
        saver = self._saver
        home = saver._home  # noqa: SLF001 - one piece of code with the saver
        if self._only is not None and self._thread_id is not None and self._namespace is not None:
            self.over = True
            at = At(self._thread_id, self._namespace, self._only)
            found = await home.memoranda.graphs.checkpoints.get(home.who, at, **home.subject)
            return [] if found is None else [found]
        page = await home.memoranda.graphs.checkpoints.page(
            home.who,
            thread_id=self._thread_id,
            namespace=self._namespace,
            before=self._before,
            after=self._after,
            limit=AT_ONCE,
            **home.subject,
        )
        self.over = len(page) < AT_ONCE
        self._after = page[-1] if page else None
        return page

    def shown(self, page: Sequence[KeptCheckpoint]) -> Iterator[CheckpointTuple]:
        """Those of a page that are wanted; `over` is true once the last of them is shown."""
        for kept in page:
            if self._only not in {None, kept.checkpoint_id}:
                continue
            if self._before is not None and kept.checkpoint_id >= self._before:
                continue
            made = self._saver._tuple(kept)  # noqa: SLF001 - one piece of code with the saver
            about: Mapping[str, Any] = made.metadata
            if any(about.get(key) != value for key, value in self._wanted.items()):
                continue
            yield made
            if self._left is not None:
                self._left -= 1
                if self._left <= 0:
                    self.over = True
                    return


def _at(config: RunnableConfig) -> At:
    asked = config["configurable"]
    return At(
        str(asked["thread_id"]), asked.get("checkpoint_ns") or "", get_checkpoint_id(config) or None
    )


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def _texts(ids: Sequence[str]) -> Sequence[str]:
    if isinstance(ids, str):
        raise TypeError("A sequence of ids is needed, and not a str: put it in a list.")
    return [str(each) for each in ids]
