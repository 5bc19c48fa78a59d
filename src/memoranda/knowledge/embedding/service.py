"""Vectors of documents: made before a document opens, and made or cleared behind when the model is switched."""

import asyncio
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import anyio

from memoranda.knowledge.active import store as active
from memoranda.knowledge.active.store import Active, ModelsMoved
from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.embedding import making, store
from memoranda.knowledge.embedding.making import EmbedderAway, NotEmbedded, Texts
from memoranda.knowledge.embedding.store import Making, MakingLost, NotWhole
from memoranda.knowledge.models import Claim
from memoranda.knowledge.readiness import store as readiness
from memoranda.knowledge.readiness.store import RowGone
from memoranda.knowledge.steps import store as steps
from memoranda.knowledge.steps.store import Embedded
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.port import Embedder
from memoranda.storage import Scope, Storage, Transaction
from memoranda.storage.signals import KNOWLEDGE_VECTORS, signal

LEASE: Final = timedelta(minutes=3)
"""How long a document is held that is embedded again; each batch renews it."""
WORTH_S: Final = 1.0
"""How long documents are embedded before anything else is looked at."""
REST_S: Final = 30.0
"""How long an embedder that is away is left alone."""


class DocumentEmbedding:
    """Has every searchable document embedded under the model that serves, and under the one that is to.

    `take_in` does so before a document opens. As a chore (`serve`), it makes what searchable documents
    lack, lets the next model serve once none lacks it, and clears what is wanted no more. The rows
    are the work, and any number of workers share it. Without an embedder, words alone are searched.
    """

    kind: Final = KNOWLEDGE_VECTORS

    def __init__(
        self,
        storage: Storage,
        embedders: Embedders | None,
        *,
        lease: timedelta = LEASE,
        rest_s: float = REST_S,
    ) -> None:
        self._storage = storage
        self._lease = lease
        self._rest_s = rest_s
        self._rests: dict[str, tuple[float, str]] = {}
        self._after: dict[tuple[Scope, str], UUID] = {}
        self.embedders = embedders

    @property
    def models(self) -> list[str]:
        """The models that there is an embedder of, the configured one first."""
        return list(self.embedders.models) if self.embedders else []

    @property
    def pause(self) -> timedelta:
        """How long a document is left that waits for its embedder."""
        return timedelta(seconds=self._rest_s)

    async def check(self, scope: Scope) -> None:
        """Raise `EmbedderAway` where a document could not be embedded now, before it is read."""
        if self.embedders is None:
            return
        model = (await self._serving(scope, self.embedders)).model
        if model is None:
            return
        embedder = self._embedder(model)
        _, why = self._rests.get(model, (0.0, ""))
        if self._rest(model):
            raise EmbedderAway(why)
        if why:
            await self._asked(making.answers(embedder), model)

    async def take_in(
        self, scope: Scope, claim: Claim, digest: str, title: str, chunks: Sequence[Chunk]
    ) -> Embedded | None:
        """Embed a document that is taken in; None where there is no embedder.

        Raises `EmbedderAway`, `NotEmbedded` or `ClaimLost` where it can't be under the model that
        serves. What goes wrong under the next one is left for later, when the document is open.
        """
        if self.embedders is None:
            return None
        serving = await self._serving(scope, self.embedders)
        if not serving.wanted:
            return Embedded(frozenset(), frozenset())
        texts = await asyncio.to_thread(making.texts_of, title, chunks)
        await self._storage.write(scope, _cut, claim, digest, len(chunks))
        made = set()
        for model in serving.wanted:
            if model != serving.model and self._rest(model):
                continue
            try:
                await self._embed(scope, claim, digest, model, texts)
                made.add(model)
            except RowGone:  # the model is wanted no more: the opening looks at what is
                continue
            except (EmbedderAway, NotEmbedded) as error:
                if model == serving.model:
                    raise
                if isinstance(error, NotEmbedded) and error.for_good:
                    await self._storage.write(scope, _fail_next, claim, digest, model, error.reason)
        return Embedded(frozenset(serving.wanted), frozenset(made))

    async def wait(self, scope: Scope, claim: Claim, digest: str, why: str) -> None:
        """Let a document wait for the embedder: that is no try. Raises `ClaimLost`."""
        await self._storage.write(scope, _wait, claim, digest, why, self.pause)

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        """Embed one document that lacks a model, or flip, or clear a step; whether there was something."""
        serving = await self._taken_up(scope)
        if serving is None:
            return False
        for model in serving.wanted:
            if model in self.models and await self._make_some(scope, model, worker_id):
                return True
        if await self._flip(scope, serving):
            return True
        return await self._clear(scope, serving)

    async def waiting(self, scope: Scope) -> bool:
        """Whether a document waits to be embedded, with another worker included, or something to be cleared.

        One whose embedder is not at hand, and one that failed, wait for a person and not for a worker.
        """
        return await self._storage.read(scope, _waits, self.embedders)

    async def take_up(self, scope: Scope) -> int:
        """Raise the signal where there is work that nobody raised it for, as after an upgrade; how often."""
        if not await self.waiting(scope):
            return 0
        await self._storage.write(scope, signal, KNOWLEDGE_VECTORS)
        return 1

    async def _serving(self, scope: Scope, embedders: Embedders) -> Active:
        serving = await self._storage.read(scope, active.now)
        if serving is None:
            serving = await self._storage.write(scope, active.adopt, embedders.live.model)
        return serving

    async def _taken_up(self, scope: Scope) -> Active | None:
        serving = await self._storage.read(scope, active.now)
        if serving is None and await self.waiting(scope) and self.embedders is not None:
            return await self._serving(scope, self.embedders)
        return serving

    async def _embed(
        self, scope: Scope, claim: Claim, digest: str, model: str, texts: Texts
    ) -> None:
        embedder = self._embedder(model)
        hold = partial(_hold_claim, claim=claim, digest=digest)
        await self._asked(
            making.embed_document(
                self._storage, scope, claim.source_id, embedder, texts, hold=hold
            ),
            model,
        )

    async def _make_some(self, scope: Scope, model: str, worker_id: UUID) -> bool:
        """Embed documents for about a second, or one; whether there was any."""
        clock = asyncio.get_running_loop().time
        began, found = clock(), False
        while not self._rest(model) and clock() < began + WORTH_S:
            looked = await self._claim(scope, model, worker_id)
            if looked is None:
                break
            found = True
            if looked.held is not None:
                await self._make(scope, looked.held)
        return found

    async def _claim(self, scope: Scope, model: str, worker_id: UUID) -> store.Looked | None:
        """Take the next document after the last one; from the first again once none follows."""
        place = (scope, model)
        for after in {self._after.get(place): None, None: None}:
            looked = await self._storage.take(
                scope,
                partial(
                    store.claim, model=model, worker_id=worker_id, lease=self._lease, after=after
                ),
                give_back=_let_go,
            )
            if looked is not None:
                self._after[place] = looked.source_id
                return looked
        self._after.pop(place, None)
        return None

    async def _make(self, scope: Scope, held: Making) -> None:
        hold = partial(_hold_making, held=held, lease=self._lease)
        embedder = self._embedder(held.model)
        try:
            title, rows = await self._storage.read(scope, store.chunks, held)
            texts = await asyncio.to_thread(making.texts_of, title, rows)
            await self._asked(
                making.embed_document(
                    self._storage, scope, held.source_id, embedder, texts, hold=hold
                ),
                held.model,
            )
            await self._storage.write(scope, store.finish, held, self._lease)
        except (MakingLost, RowGone):
            return
        except EmbedderAway as error:
            await self._storage.write(scope, store.give_back, held, str(error), self.pause)
        except NotEmbedded as error:
            await self._fail(scope, held, error)
        except asyncio.CancelledError:
            # A worker that is stopped in order keeps nobody waiting for the end of its lease.
            with anyio.CancelScope(shield=True):
                await self._storage.write(scope, store.give_back, held)
            raise

    async def _fail(self, scope: Scope, held: Making, error: NotEmbedded) -> None:
        try:
            await self._storage.write(
                scope, store.fail, held, self._lease, error.reason, for_good=error.for_good
            )
        except MakingLost:
            return

    async def _flip(self, scope: Scope, serving: Active) -> bool:
        if serving.next is None or not await self._storage.read(scope, store.may_serve, serving):
            return False
        try:
            await self._storage.write(scope, store.flip, serving.next)
        except NotWhole:
            return False
        return True

    async def _clear(self, scope: Scope, serving: Active) -> bool:
        if not await self._storage.read(scope, store.has_unwanted, serving.wanted):
            return False
        try:
            return await self._storage.write(scope, store.clear_some)
        except ModelsMoved:
            return True

    def _embedder(self, model: str) -> Embedder:
        embedder = self.embedders.of(model) if self.embedders else None
        if embedder is None:
            raise EmbedderAway(
                f"No embedder of {model} is set here. Set it again, or switch to another model "
                "with `memoranda knowledge switch`."
            )
        return embedder

    async def _asked(self, asking: Awaitable[None], model: str) -> None:
        """Wait for what asks an embedder; one that is away is left alone for a while."""
        try:
            await asking
        except EmbedderAway as error:
            until = asyncio.get_running_loop().time() + self._rest_s
            self._rests[model] = until, str(error)
            raise
        self._rests.pop(model, None)

    def _rest(self, model: str) -> bool:
        return self._rests.get(model, (0.0, ""))[0] > asyncio.get_running_loop().time()


def _waits(tx: Transaction, embedders: Embedders | None) -> bool:
    serving = active.now(tx)
    if serving is None:
        return embedders is not None and active.any_ready(tx)
    at_hand = embedders.models if embedders else ()
    if any(store.unmade(tx, model) for model in serving.wanted if model in at_hand):
        return True
    return store.may_serve(tx, serving) or store.has_unwanted(tx, serving.wanted)


def _cut(tx: Transaction, claim: Claim, digest: str, chunks: int) -> None:
    steps.hold(tx, claim, digest)
    claims.read(tx, claim, chunks)


def _wait(tx: Transaction, claim: Claim, digest: str, why: str, pause: timedelta) -> None:
    steps.hold(tx, claim, digest)
    serving = active.now(tx)
    if serving is not None and serving.model is not None:
        readiness.tell(tx, claim.source_id, serving.model, why)
    claims.wait(tx, claim, pause)


def _fail_next(tx: Transaction, claim: Claim, digest: str, model: str, reason: str) -> None:
    steps.hold(tx, claim, digest)
    readiness.fail(tx, claim.source_id, model, reason)


def _hold_claim(tx: Transaction, *, claim: Claim, digest: str) -> None:
    steps.hold(tx, claim, digest)


def _let_go(tx: Transaction, looked: store.Looked) -> None:
    if looked.held is not None:
        store.give_back(tx, looked.held)


def _hold_making(tx: Transaction, *, held: Making, lease: timedelta) -> None:
    store.hold(tx, held, lease)
