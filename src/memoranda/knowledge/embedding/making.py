"""Embeds the chunks of one document under one model, batch by batch, and goes on where it was cut short."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np

from memoranda.knowledge.readiness import store as readiness
from memoranda.knowledge.readings import Said, readings
from memoranda.search.embedders.asking import AWAY, is_away
from memoranda.search.embedders.parts import embed_in_parts
from memoranda.search.embedders.port import Embedder, Matrix
from memoranda.storage import Scope, Storage, Transaction
from memoranda.words.errors import Unavailable

BATCH: Final = 64
PATIENCE_S: Final = 60.0
"""How long a batch may take, and no lease is shorter than twice that."""

Hold = Callable[[Transaction], None]
"""Makes sure, in the transaction that writes, that the document is still the worker's; raises if not."""


class EmbedderAway(Exception):
    """The embedder can't be reached, does not answer, or is not set: documents wait, and none is at fault."""


class NotEmbedded(Exception):
    """The embedder failed for what the document says. `for_good` says that it would again."""

    def __init__(self, reason: str, *, for_good: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.for_good = for_good


class Texts(NamedTuple):
    """What is embedded of a document: a text for each chunk, and the digest by which kept vectors know it."""

    texts: list[str]
    digest: str


def texts_of(title: str, chunks: Sequence[Said]) -> Texts:
    """Return what is embedded of a document. Takes a while for a large one: call it on a thread."""
    texts = readings(title, chunks)
    digest = hashlib.sha256()
    for text in texts:
        said = text.encode("utf-8", "surrogatepass")
        digest.update(len(said).to_bytes(8, "big"))
        digest.update(said)
    return Texts(texts, digest.hexdigest())


async def embed_document(
    storage: Storage, scope: Scope, source_id: UUID, embedder: Embedder, texts: Texts, *, hold: Hold
) -> None:
    """Keep a vector of every text; those that an earlier try kept of the same texts are not made again.

    Raises `EmbedderAway`, `NotEmbedded`, what `hold` does, and `readiness.RowGone`.
    """
    model = embedder.model
    done = None
    while done is None:
        done = await storage.write(scope, _begin, source_id, model, texts.digest, hold=hold)
    while done < len(texts.texts):
        rows = await _embedded(embedder, texts.texts[done : done + BATCH], done)
        done = await storage.write(scope, _keep, source_id, model, done, rows, hold=hold)


def _begin(tx: Transaction, source_id: UUID, model: str, digest: str, *, hold: Hold) -> int | None:
    hold(tx)
    return readiness.begin(tx, source_id, model, digest)


def _keep(
    tx: Transaction, source_id: UUID, model: str, first: int, rows: Matrix, *, hold: Hold
) -> int:
    hold(tx)
    return readiness.keep(tx, source_id, model, first, rows)


async def _embedded(embedder: Embedder, texts: Sequence[str], first: int) -> Matrix:
    made, failure = await embed_in_parts(embedder, texts, within_s=PATIENCE_S)
    rows = [row for row in made if row is not None]
    if failure is None and len(rows) == len(texts):
        return np.stack(rows)
    failure = failure or Unavailable("The embedder gave no reason.")
    if is_away(failure):
        raise EmbedderAway(f"The embedder of {embedder.model} is away. {failure.message}")
    number = first + next(place for place, row in enumerate(made) if row is None) + 1
    reason = f"The embedder of {embedder.model} could not read chunk {number}. {failure.message}"
    raise NotEmbedded(reason, for_good=_refuses(failure))


def _refuses(failure: Unavailable) -> bool:
    """Whether the embedder said no to the text, and would again: what it broke at may go by."""
    status = failure.details.get("status")
    return isinstance(status, int) and 400 <= status < 500 and status not in AWAY


async def answers(embedder: Embedder) -> None:
    """Ask for one word. Raises `EmbedderAway` where that fails: then documents need not be read yet."""
    made, failure = await embed_in_parts(embedder, ["document"], within_s=PATIENCE_S)
    if made[0] is None and failure is not None:
        raise EmbedderAway(f"The embedder of {embedder.model} is away. {failure.message}")
