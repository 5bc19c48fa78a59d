"""What a run begins from: the stored list, made ready to be sent, and the fence that its save has to name."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.conversations import store
from memoranda.conversations.calls import answered, calls_of, results_of
from memoranda.conversations.errors import (
    ConversationLoadFailed,
    not_seen,
    older_generation,
    too_large,
)
from memoranda.conversations.generations import store as generations
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.models import Conversation, LoadedConversation, Message
from memoranda.conversations.seeding import replayable
from memoranda.conversations.store import Everything
from memoranda.conversations.writing import Place, fence_of
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import MemorandaError


def load(tx: Transaction, place: Place, limits: ConversationLimits) -> LoadedConversation:
    """The conversation of a place; a key without one has no messages yet.

    Raises `NotFound`, `OlderGeneration` for a key whose generation has ended, `LaterGeneration`, and `ConversationTooLarge`.
    """
    found = _find(tx, place)
    if found is None:
        if place.key is None:
            raise not_seen(place.id)
        return LoadedConversation(
            conversation=None, messages=[], fence=fence_of(tx, place.key), length=0, digest=""
        )
    if not place.seen(found):
        raise not_seen(place.id)
    if found.workflow_id is not None:
        present = generations.present(tx, found.workflow_id)
        if found.generation < present:
            raise older_generation(found.workflow_id, found.generation, present)
    if found.bytes > limits.max_bytes:
        raise too_large(found.bytes, limits.max_bytes)
    # Of checked values: thousands of messages need not be checked again.
    return LoadedConversation.model_construct(
        conversation=found,
        messages=ready(store.everything(tx, found.id), found.bytes, limits),
        fence=found.fence,
        length=found.length,
        digest=found.digest,
    )


def ready(there: Everything, size: int, limits: ConversationLimits) -> list[Message]:
    """As `replayable`, at next to no cost where nothing has to change, which is nearly always so.

    `size` is the bytes of all messages, as their rows say.
    """
    messages, of_tools, longest = there
    small = size <= limits.seed_bytes and longest <= limits.result_chars
    if small and answered_in_place(messages, of_tools):
        return messages
    return replayable(messages, result_chars=limits.result_chars, budget=limits.seed_bytes)


def answered_in_place(messages: Sequence[Message], of_tools: Sequence[int]) -> bool:
    """Whether each call has its result right after it, and no result is without a call.

    Only messages at the places `of_tools` are looked at. Where it is not plain to see, the answer is no.
    """
    done = 0
    for place in of_tools:
        if place < done:
            continue
        if results_of(messages[place]):
            return False
        calls = [call.id for call in calls_of(messages[place])]
        if not calls:
            continue
        if place and messages[place - 1].role == "assistant":
            return False
        given: list[str] = []
        done = place + 1
        while done < len(messages) and (results := results_of(messages[done])):
            given += map(answered, results)
            done += 1
        if sorted(calls) != sorted(given):
            return False
    return True


def _find(tx: Transaction, place: Place) -> Conversation | None:
    if place.key is not None:
        return store.under_key(tx, place.key)
    return None if place.id is None else store.find(tx, place.id)


async def loaded(
    storage: Storage, organization_id: UUID, place: Place, limits: ConversationLimits
) -> LoadedConversation:
    """As `load`; whatever keeps it from being read is one loud error, which may be tried again."""
    try:
        return await storage.read(organization_id, load, place, limits)
    except MemorandaError as error:
        if error.kind != "unavailable":
            raise
        raise _failed(error.code) from error
    except Exception as error:
        raise _failed(type(error).__name__) from error


def _failed(reason: str) -> ConversationLoadFailed:
    return ConversationLoadFailed(
        "The conversation could not be read, so no run may begin as if there were none: try again.",
        reason=reason,
    )
