"""The verbs of a switch of models: begin it, look how far it is, leave it."""

from typing import Final

from memoranda.knowledge.active import store as active
from memoranda.knowledge.embedding import store
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.errors import UnknownModel
from memoranda.knowledge.models import ModelStatus
from memoranda.storage import Scope, Storage, Transaction

NONE: Final = "none"
"""What is named to switch to words alone."""


async def switch_model(
    storage: Storage, scope: Scope, embedding: DocumentEmbedding, model: str, *, forced: bool
) -> ModelStatus:
    """Begin a switch, or go on with one. Raises `UnknownModel`."""
    to = None if model == NONE else model
    if to is not None and to not in embedding.models:
        raise _unknown(model, embedding.models)
    await storage.write(scope, store.switch, to, forced=forced)
    return await model_status(storage, scope, embedding)


async def cancel_switch(
    storage: Storage, scope: Scope, embedding: DocumentEmbedding
) -> ModelStatus:
    """End a switch before it has flipped; without one, nothing changes."""
    await storage.write(scope, store.cancel)
    return await model_status(storage, scope, embedding)


async def model_status(storage: Storage, scope: Scope, embedding: DocumentEmbedding) -> ModelStatus:
    """Return what serves, and how far the next model is."""
    return await storage.read(scope, _status, embedding.models)


def _status(tx: Transaction, at_hand: list[str]) -> ModelStatus:
    serving = active.now(tx)
    active_model, next_model = (None, None) if serving is None else (serving.model, serving.next)
    model = next_model or active_model
    found = store.counts(tx, model)
    lacking = found.sources - found.ready - found.failed
    return ModelStatus(
        active=active_model,
        next=next_model,
        forced=serving is not None and next_model is not None and serving.forced,
        sources=found.sources,
        ready=found.ready,
        failed=found.failed,
        waiting=0 if model is None else lacking,
        chunks=found.chunks,
        embedded=found.made,
        failures=store.failures(tx, model) if found.failed else [],
        waits_for=store.waits_for(tx, model) if lacking else None,
        at_hand=at_hand,
    )


def _unknown(model: str, at_hand: list[str]) -> UnknownModel:
    named = ", ".join([*at_hand, NONE])
    return UnknownModel(
        f"There is no embedder of {model!r} here: name one of {named}. "
        "MEMORANDA_EMBEDDER and the settings of an endpoint say which there are.",
        model=model,
        models=[*at_hand, NONE],
    )
