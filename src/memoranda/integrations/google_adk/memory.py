"""ADK's memory service: what sessions said becomes conversations, and a search finds that and memories."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final
from uuid import UUID

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session

from memoranda.access.models import Principal, Role, User
from memoranda.access.roles import organization_of
from memoranda.app import Memoranda
from memoranda.conversations.finding.models import FoundMessage
from memoranda.conversations.finding.service import MOST_RESULTS
from memoranda.conversations.finding.showing import by_itself
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.sessions.errors import nobody_yet
from memoranda.integrations.google_adk.said import (
    FACT,
    entry_of_memory,
    entry_of_message,
    is_of,
    messages_of,
    text_of,
    workflow_of,
)
from memoranda.memories.candidate import edit_input
from memoranda.memories.finding.asked import LONGEST_QUERY
from memoranda.words.errors import Conflict, DuplicateMemory, Invalid, NotFound, Refused
from memoranda.words.given import checked
from memoranda.words.inputs import check_count
from memoranda.words.text import clean

MOST_FOUND: Final = 10
_LOOKED_AT: Final = MOST_RESULTS
_NEWEST: Final = 1_000
_SESSIONS: Final = 50
"""Conversations of an application, among that many of its user's, that are looked into one by one."""
_TRIES: Final = 5
_CATCH_UP_S: Final = 0.5

logger = logging.getLogger(__name__)


class MemorandaMemoryService(BaseMemoryService):
    """The long memory of ADK's agents, as `who` (the owner, where nobody is named) and under its rights.

    What a session said is kept as a conversation of its user, and found within its application alone. What is
    remembered of the user is found too, whoever remembered it. A `user_id` of ADK's is the id or
    external id of a user here; of one that is nobody yet nothing is found, and one is made where something is
    added.
    """

    @checked
    def __init__(
        self, memoranda: Memoranda, who: Principal | None = None, *, limit: int = MOST_FOUND
    ) -> None:
        check_count("limit", limit, most=_LOOKED_AT)
        self._memoranda = memoranda
        self._who = who or memoranda.owner
        if self._who.role is Role.AGENT and self._who.user_id is None:
            raise Refused(
                "ADK's memory is a user's, and this is an agent's key for none: use an owner's key, or "
                "one of the user's own."
            )
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep what the session said by now; what was added of it before is written anew where it differs."""
        user = await self._made(session.user_id)
        key = ConversationKey(
            workflow_id=workflow_of(session.app_name, session.user_id, session.id)
        )
        conversations = self._memoranda.conversations
        loaded = await conversations.load(self._who, key)
        await conversations.save(
            self._who, key, messages_of(session.events), fence=loaded.fence, user_id=user.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add what these events said to what is kept of the session; one that is there already is left.

        Of `custom_metadata` nothing is kept, which a warning tells.
        """
        _tell_what_is_not_kept([custom_metadata])
        user = await self._made(user_id)
        key = ConversationKey(workflow_id=workflow_of(app_name, user_id, session_id))
        for _ in range(_TRIES):
            loaded = await self._memoranda.conversations.load(self._who, key)
            known = {each.metadata.get("adk_event_id") for each in loaded.messages}
            new = [
                each
                for each in messages_of(events)
                if each.metadata.get("adk_event_id") not in known
            ]
            if not new:
                return
            try:
                await self._memoranda.conversations.append(
                    self._who,
                    key,
                    new,
                    expected_length=loaded.length,
                    fence=loaded.fence,
                    user_id=user.id,
                )
            except Conflict:
                continue
            return
        raise Conflict("Others wrote to this session's memory all the time: try again.")

    async def add_memory(
        self,
        *,
        app_name: str,  # noqa: ARG002 - ADK's signature: what is remembered of a user is known to every application
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember each of these facts for the user; one that is remembered already is left.

        Of `custom_metadata`, here and in the facts, nothing is kept, which a warning tells. Raises `Invalid`, `OverLimit` and `SecretFound`, and then none of them is remembered.
        """
        _tell_what_is_not_kept([custom_metadata, *(each.custom_metadata for each in memories)])
        texts = [text_of(each.content) for each in memories]
        if not all(texts):
            raise Invalid("A memory is a text: one of these has none.", field="memories")
        for text in texts:
            edit_input(self._memoranda.settings.max_memory_chars, text=text)
        user = await self._made(user_id)
        for text in texts:
            try:
                await self._memoranda.memories.remember(self._who, text, user_id=user.id)
            except DuplicateMemory:
                continue

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """What has to do with the query, the best first: memories, and what was said in this application."""
        user, asked = await self._known(user_id), clean(query)[:LONGEST_QUERY].strip()
        if user is None or not asked:
            return SearchMemoryResponse()
        facts = await self._memoranda.memories.search(self._who, asked, user_id=user.id)
        said = await self._said(user, partial(is_of, application=app_name, person=user_id), asked)
        found = [
            *((each.match.score, entry_of_memory(each.memory)) for each in facts.results),
            *((each.score, entry_of_message(each)) for each in said if by_itself(each.why)),
        ]
        found.sort(key=lambda each: -each[0])
        return SearchMemoryResponse(memories=[entry for _, entry in found[: self._limit]])

    async def delete_memory(
        self,
        *,
        app_name: str,  # noqa: ARG002 - ADK's signature: a memory is of the user
        user_id: str,
        memory_id: str | None = None,
    ) -> None:
        """Forget a memory of the user, by the id that a search gave; one that is not there is none.

        Of what was said nothing is taken away by itself: raises `NotImplementedError`, as ADK's base has it for what a
        service does not delete.
        """
        user = await self._known(user_id)
        if user is None or not memory_id:
            return
        if not memory_id.startswith(FACT):
            raise NotImplementedError(  # which ADK's base has for it, see above
                "This was said in a session: purge the conversation, or let the agent forget the session."
            )
        try:
            memory = await self._memoranda.memories.get(
                self._who, UUID(memory_id.removeprefix(FACT))
            )
        except (NotFound, ValueError):
            return
        if memory.user_id == user.id:
            await self._memoranda.memories.forget(self._who, memory.id)

    async def _said(
        self, user: User, is_own: Callable[[str | None], bool], query: str
    ) -> list[FoundMessage]:
        """What was said in the application's conversations with the user."""
        search = self._memoranda.conversation_search
        await search.catch_up(organization_of(self._who), within_s=_CATCH_UP_S)
        look = partial(search.search, self._who, query, user_id=user.id, limit=_LOOKED_AT)
        everywhere = (await look()).results
        found = [each for each in everywhere if is_own(each.workflow_id)]
        if len(found) >= self._limit or len(everywhere) < _LOOKED_AT:
            return found
        # What was said in other applications took all the room.
        page = await self._memoranda.conversations.page(self._who, user_id=user.id, limit=_NEWEST)
        for each in [each for each in page.items if is_own(each.workflow_id)][:_SESSIONS]:
            found += (await look(conversation_id=each.id)).results
        return list({(each.conversation_id, each.position): each for each in found}.values())

    async def _known(self, person: str) -> User | None:
        try:
            return await self._memoranda.access.user(self._who, person.strip())
        except NotFound:
            return None

    async def _made(self, person: str) -> User:
        found = await self._known(person)
        if found is not None:
            return found
        try:
            return await self._memoranda.access.create_user(self._who, person, person)
        except Conflict:
            return await self._memoranda.access.user(self._who, person.strip())
        except Refused:
            raise nobody_yet(person) from None


def _tell_what_is_not_kept(given: Sequence[Mapping[str, object] | None]) -> None:
    """A memory has no fields of a caller's own. How many there are is told: their names may be people's words."""
    fields = sum(len(each or {}) for each in given)
    if fields:
        logger.warning("Of custom_metadata nothing is kept: %d fields were left out.", fields)
