"""The chore of making vectors: batch by batch, and from one model to the next."""

import asyncio
import logging
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import anyio

from memoranda.memories.embedding import store
from memoranda.memories.embedding.store import Readable
from memoranda.memories.limits import COLLECTION
from memoranda.search.embedders.choice import Embedders
from memoranda.search.embedders.parts import Made, embed_in_parts
from memoranda.search.vectors import store as vectors
from memoranda.search.vectors.making import store as making
from memoranda.search.vectors.matrix import pack
from memoranda.search.vectors.store import Progress
from memoranda.storage import Scope, Storage, Transaction
from memoranda.storage.signals import EMBEDDING, own_signal, settle
from memoranda.words.errors import Unavailable
from memoranda.words.ids import new_id

logger = logging.getLogger(__name__)

BATCH: Final = 64
AT_ONCE: Final = 500
"""How many rows one transaction changes at most."""
LEASE: Final = timedelta(minutes=2)
"""How long a claim holds; what a killed worker held is another's after that."""
PATIENCE_S: Final = 60.0
"""How long a batch may take: it ends long before its lease."""
KEPT_DROPPED: Final = timedelta(days=3)
"""How long rows of dropped vectors stand: longer than a cache goes without a look at them."""


class _Look(NamedTuple):
    """What there is to do: models with texts to embed now, whether others wait, and who serves how much."""

    due: list[str]
    waits: bool
    serving: str | None
    whole: bool


class Embedding:
    """Makes the vectors that memories lack; their rows are the work, and any number of workers share it.

    Without an embedder there is nothing to do. One that can't be reached is left alone for `rest_s`.
    Where another model serves than is to, vectors of the new one are made beside the old ones, and
    once no memory lacks one, one change of one row lets it serve.
    """

    kind: Final = EMBEDDING

    def __init__(
        self,
        storage: Storage,
        embedders: Embedders | None,
        *,
        lease: timedelta = LEASE,
        rest_s: float = 30.0,
    ) -> None:
        self._storage = storage
        self._embedders = embedders
        self._lease = lease
        self._rest_s = rest_s
        self._resting: dict[str, float] = {}
        self._complete: set[UUID] = set()

    async def serve(self, scope: Scope, worker_id: UUID) -> bool:
        """Embed one batch of the scope's memories, or take one step towards the model that is to serve."""
        if self._embedders is None or not isinstance(scope, UUID):
            return False
        live = self._embedders.live.model
        look = await self._storage.read(scope, _look, self._embedders)
        for model in look.due:
            if not self._rests(model):
                last = self._done(scope, look) and look.due == [live]
                return await self._embed_some(scope, model, worker_id, last=last)
        if look.waits or self._done(scope, look):
            return False
        if await self._storage.write(scope, _step, live):
            return True
        self._complete.add(scope)
        return False

    async def waiting(self, scope: Scope) -> bool:
        """Whether a memory waits for its vector, for another try and with another worker included."""
        if self._embedders is None or not isinstance(scope, UUID):
            return False
        return bool((await self._storage.read(scope, _look, self._embedders)).waits)

    async def catch_up(self, organization_id: UUID, *, within_s: float) -> bool:
        """Make the vectors that wait, for callers without a worker; whether none is left to wait.

        Stops after `within_s` seconds, and at once where the embedder can't be reached.
        """
        loop = asyncio.get_running_loop()
        ends, worker_id = loop.time() + within_s, new_id()
        while loop.time() < ends and await self.serve(organization_id, worker_id):
            pass
        return not await self.waiting(organization_id)

    async def trouble(self) -> str | None:
        """Say why the embedder can't embed, by asking it for one word; None where it can, or there is none."""
        if self._embedders is None:
            return None
        try:
            await self._embedders.live.embed(["memory"])
        except Unavailable as error:
            return error.message
        return None

    async def sweep(self, organization_id: UUID, most: int = AT_ONCE) -> int:
        """Take up what was left, up to `most` of each kind; how much there was.

        Words that were read otherwise, memories without a row for their vector, and vectors that
        were given up; and rows go that nobody needs any more.
        """
        found = await self._storage.write(organization_id, store.read_anew, most)
        if self._embedders is not None:
            found += await self._storage.write(organization_id, _sweep, self._embedders, most)
        return found

    async def take_up(self, organization_id: UUID, most: int = AT_ONCE) -> int:
        """Take up what was never taken up, up to `most` of each kind; how much there was.

        That is what an upgrade, or another embedder, left without words or a wanted vector. Where
        nothing is, this is one look and no write. What was given up is the night's to try again.
        """
        live = self._embedders.live.model if self._embedders else ""
        if not await self._storage.read(organization_id, store.unready, live):
            return 0
        found = await self._storage.write(organization_id, store.read_anew, most)
        if live:
            found += await self._storage.write(organization_id, _want_lacking, live, most)
        return found

    async def progress(self, organization_id: UUID) -> Progress | None:
        """Return how far the vectors of the model that is to serve are made; None without an embedder."""
        if self._embedders is None:
            return None
        live = self._embedders.live.model
        return await self._storage.read(organization_id, store.progress, live)

    async def serving(self, organization_id: UUID) -> str | None:
        """Return the model whose vectors answer searches; None before there was one."""
        now = await self._storage.read(organization_id, vectors.serving, COLLECTION)
        return None if now is None else now.model

    def _done(self, organization_id: UUID, look: _Look) -> bool:
        """Whether the model that is to serve does, and no memory was without a row for its vector."""
        live = self._embedders.live.model if self._embedders else None
        return look.whole and look.serving == live and organization_id in self._complete

    async def _embed_some(
        self, organization_id: UUID, model: str, worker_id: UUID, *, last: bool
    ) -> bool:
        """Embed a batch; `last` says that there is no more to do where none waits after it."""
        taken = await self._storage.take(
            organization_id,
            partial(_take, model=model, worker_id=worker_id, lease=self._lease),
            give_back=_hand_back,
        )
        if not taken.texts:
            return True  # taken by another worker, or put right: there may be more
        embedder = self._embedders.of(model) if self._embedders else None
        if embedder is None:
            return False
        try:
            rows, failure = await embed_in_parts(embedder, taken.texts, within_s=PATIENCE_S)
            made = [_packed(row) for row in rows]
            given_up = await self._storage.write(organization_id, _end, taken, made, last=last)
        except asyncio.CancelledError:
            # A worker that is stopped in order keeps nobody waiting for the end of its lease.
            with anyio.CancelScope(shield=True):
                await self._storage.write(organization_id, _hand_back, taken)
            raise
        if failure is not None and not any(each is not None for each in made):
            self._resting[model] = asyncio.get_running_loop().time() + self._rest_s
        if given_up:
            _say_given_up(organization_id, model, given_up, failure)
        return True

    def _rests(self, model: str) -> bool:
        return self._resting.get(model, 0.0) > asyncio.get_running_loop().time()


def _look(tx: Transaction, embedders: Embedders) -> _Look:
    now = vectors.serving(tx, COLLECTION)
    models = _models(embedders, now.model if now else None)
    due = [model for model in models if making.due(tx, COLLECTION, model)]
    waits = vectors.waiting(tx, COLLECTION, models)
    return _Look(due, waits, now.model if now else None, bool(now and now.whole))


def _models(embedders: Embedders, serving: str | None) -> list[str]:
    """Those whose vectors are made: of the one that serves first, because searches ask it."""
    live = embedders.live.model
    old = [serving] if serving not in {None, live} and serving in embedders.models else []
    return [*old, live]


def _take(tx: Transaction, model: str, worker_id: UUID, lease: timedelta) -> Readable:
    return store.readable(
        tx, making.claim(tx, COLLECTION, model, worker_id, lease=lease, most=BATCH)
    )


def _hand_back(tx: Transaction, taken: Readable) -> None:
    making.hand_back(tx, taken.claim)


def _end(tx: Transaction, taken: Readable, made: list[bytes | None], *, last: bool) -> int:
    """Keep what was made and give the rest back; how many were given up.

    Where none waits after the last batch, its signal goes in the same commit, and not in one more:
    unless it is raised again meanwhile, for the work of whoever raised it is not seen here.
    """
    seen = own_signal(tx, EMBEDDING) if last else None
    claim, rows = taken.claim, list(zip(taken.claim.texts, made, taken.letters, strict=True))
    kept = claim._replace(texts=[text for text, vector, _ in rows if vector is not None])
    left = claim._replace(texts=[text for text, vector, _ in rows if vector is None])
    if kept.texts:
        letters = [signature for _, vector, signature in rows if vector is not None]
        making.keep(tx, kept, [vector for vector in made if vector is not None], letters)
    given_up = making.fail(tx, left) if left.texts else 0
    if seen is not None and not vectors.waiting(tx, COLLECTION, [claim.model]):
        settle(tx, EMBEDDING, seen)
    return given_up


def _packed(row: Made) -> bytes | None:
    return None if row is None else pack(row[None])[0]


def _step(tx: Transaction, live: str) -> bool:
    """Have more vectors made where some are lacking, else let the model serve, else clear the old one's away."""
    serving, _ = vectors.turn(tx, COLLECTION, 0, first=live)
    lacking = store.lacking(tx, live, AT_ONCE)
    if lacking:
        vectors.want_again(tx, COLLECTION, live, lacking)
        return True
    if serving == live:
        vectors.be_whole(tx, COLLECTION, live)
        spelled = store.spell(tx, live, AT_ONCE)
        return spelled + vectors.clear(tx, COLLECTION, (live, live), AT_ONCE) > 0
    done = store.progress(tx, live)
    # A generation that mostly failed is no generation: the old one goes on.
    if done.waiting or done.given_up > done.made:
        return False
    return vectors.flip(tx, COLLECTION, serving, live)


def _want_lacking(tx: Transaction, live: str, most: int) -> int:
    vectors.turn(tx, COLLECTION, 0, first=live)
    lacking = store.lacking(tx, live, most)
    vectors.want_again(tx, COLLECTION, live, lacking)
    if not lacking:
        vectors.be_whole(tx, COLLECTION, live)
    return len(lacking) + store.spell(tx, live, most)


def _sweep(tx: Transaction, embedders: Embedders, most: int) -> int:
    live = embedders.live.model
    serving, _ = vectors.turn(tx, COLLECTION, 0, first=live)
    found = 0
    for model in _models(embedders, serving):
        lacking = store.lacking(tx, model, most)
        again = vectors.given_up(tx, COLLECTION, model, most) | lacking
        vectors.want_again(tx, COLLECTION, model, again)
        if not lacking:
            vectors.be_whole(tx, COLLECTION, model)
        found += len(again) + store.spell(tx, model, most)
        found += vectors.tidy(tx, COLLECTION, model, tx.now - KEPT_DROPPED, most)
    return found + vectors.clear(tx, COLLECTION, (live, serving), most)


def _say_given_up(
    organization_id: UUID, model: str, count: int, failure: Unavailable | None
) -> None:
    logger.warning(
        "%d memories of organization %s are found by their words alone until the next night: "
        "the embedder %s failed for them %d times. %s",
        count,
        organization_id,
        model,
        vectors.TRIES,
        failure.message if failure else "",
    )
