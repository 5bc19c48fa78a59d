"""The verbs that end conversations: reset a workflow, or delete for good."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.conversations import writing
from memoranda.conversations.chats import removing as chats
from memoranda.conversations.finding import store as index
from memoranda.conversations.generations import store as generations
from memoranda.conversations.listeners import Listeners
from memoranda.conversations.models import (
    Conversation,
    Purged,
    WorkflowGeneration,
    WorkflowReset,
)
from memoranda.conversations.places import place_of
from memoranda.conversations.resets.models import NOTHING_ELSEWHERE, Elsewhere
from memoranda.conversations.rows import store as rows
from memoranda.runs.store import record_activity
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import text_input

RESET: Final = "workflow_reset"
PURGED: Final = "conversations_purged"


@checks_shapes
class Resets:
    """Ends the conversations of workflows, for owners, and says which generation of one goes on.

    `elsewhere` says what happens to the memory spaces of a workflow, and to what other rooms quote.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        listeners: Listeners,
        elsewhere: Elsewhere = NOTHING_ELSEWHERE,
    ) -> None:
        self._storage = storage
        self._listeners = listeners
        self._elsewhere = elsewhere

    async def generation(self, who: Principal, workflow_id: str) -> WorkflowGeneration:
        """Which generation of the workflow goes on: 1 until it is reset. Anybody who reads conversations may ask."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        named = text_input("workflow_id", workflow_id)
        present = await self._storage.read(organization, generations.present, named)
        return WorkflowGeneration(workflow_id=named, generation=present)

    async def reset(self, who: Principal, workflow_id: str) -> WorkflowReset:
        """Let the workflow begin anew: a new generation, always, and no conversation of an older one goes on.

        What was said in them is cleared away, and a save for them is refused from now on; they stay
        in lists, empty. A chat of the workflow can be read, and goes on once it is cleared. Then each of
        the workflow's memory spaces is kept or cleared, as its policy says: what is cleared is forgotten,
        and can be restored for 30 days. All in one transaction. For owners.
        """
        organization = organization_for(who, Permission.RESET_CONVERSATIONS)
        named = text_input("workflow_id", workflow_id)
        # Spaces are named to the last blank.
        done, ended = await self._storage.write(
            organization, _reset, who, named, workflow_id, self._elsewhere
        )
        self._listeners.tell(organization, "reset", *ended)
        return done

    async def purge(self, who: Principal, conversation_id: UUID) -> Purged:
        """Delete a conversation for good, with its branches, all that was made of it and the chat that it is of: no text is left.

        What it cost stays. A save that was begun before is refused, and makes nothing. For owners;
        raises `NotFound`.
        """
        organization = organization_for(who, Permission.RESET_CONVERSATIONS)
        place = place_of(who, conversation_id)
        gone = await self._storage.write(organization, _purge, who, place, self._elsewhere)
        return await self._purged(organization, gone)

    async def purge_workflow(self, who: Principal, workflow_id: str) -> Purged:
        """Delete every conversation of a workflow, of all generations, and its chat, for good; another generation begins.

        Memories stay. Purging again what is gone finishes what could not be scrubbed. For owners.
        """
        organization = organization_for(who, Permission.RESET_CONVERSATIONS)
        named = text_input("workflow_id", workflow_id)
        gone = await self._storage.write(organization, _purge_workflow, who, named, self._elsewhere)
        return await self._purged(organization, gone)

    async def _purged(self, organization: UUID, gone: list[Conversation]) -> Purged:
        self._listeners.tell(organization, "purged", *gone)
        while await self._storage.write(organization, index.clear_some):
            pass
        return Purged(conversations=len(gone), scrubbed=await self._storage.scrub())


def _reset(
    tx: Transaction, who: Principal, workflow_id: str, spaces_of: str, elsewhere: Elsewhere
) -> tuple[WorkflowReset, list[Conversation]]:
    generation, ended = writing.end_generation(tx, workflow_id)
    chats.end_generation(tx, workflow_id)
    record_activity(
        tx,
        RESET,
        user_id=who.user_id,
        agent_id=who.agent_id,
        generation=generation,
        conversations=len(ended),
    )
    # From here on events are recorded, so that others of the organization wait.
    spaces = elsewhere.spaces(tx, who, spaces_of)
    for each in ended:
        rows.changed(tx, each, "reset")
    done = WorkflowReset(
        workflow_id=workflow_id,
        generation=generation,
        conversations=len(ended),
        spaces_cleared=spaces.cleared,
        memories_forgotten=spaces.forgotten,
    )
    return done, ended


def _purge(
    tx: Transaction, who: Principal, place: writing.Place, elsewhere: Elsewhere
) -> list[Conversation]:
    # A chat quotes what its agents were told: whoever changes one takes its workflow first.
    chats.hold_workflow_of(tx, place.id)
    gone = writing.purge_whole(tx, place)
    chats.forget_chats_of(tx, gone)
    return _gone(tx, who, gone, elsewhere)


def _purge_workflow(
    tx: Transaction, who: Principal, workflow_id: str, elsewhere: Elsewhere
) -> list[Conversation]:
    gone = writing.purge_workflow(tx, workflow_id)
    chats.forget_workflow(tx, workflow_id)
    return _gone(tx, who, gone, elsewhere)


def _gone(
    tx: Transaction, who: Principal, gone: list[Conversation], elsewhere: Elsewhere
) -> list[Conversation]:
    """Record it, without a word of what was said; events come last."""
    elsewhere.quoted(tx, [each.id for each in gone])
    for each in gone:
        record_activity(tx, PURGED, subject_id=each.id, user_id=who.user_id, agent_id=who.agent_id)
    for each in gone:
        rows.changed(tx, each, "purged")
    return gone
