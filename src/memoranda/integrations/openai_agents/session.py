"""A session of the OpenAI Agents SDK: its items are a conversation's messages, and its branches that conversation's."""

import json
import re
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast
from uuid import UUID

from agents.items import TResponseInputItem
from agents.memory import SessionSettings
from agents.memory.session_settings import coerce_session_settings

from memoranda.access.models import Principal
from memoranda.conversations.branches.models import MAIN
from memoranda.conversations.branches.service import MOST_READ
from memoranda.conversations.models import ConversationKey, StoredMessage
from memoranda.conversations.preparing import MOST_APPENDED
from memoranda.conversations.said import is_summary
from memoranda.conversations.service import MOST_LISTED
from memoranda.integrations.home import Given, Home
from memoranda.integrations.openai_agents.items import item_of, message_of
from memoranda.integrations.openai_agents.turns import Said, outline, used
from memoranda.words.errors import Conflict, Gone, Invalid, NotFound
from memoranda.words.given import checked
from memoranda.words.inputs import text_input

T = TypeVar("T")

PREVIEW: Final = 100
"""Characters of a turn that a list of turns shows."""


class MemorandaSession:
    """A session of the SDK's over an opened Memoranda: what is added comes back equal, in its order.

    The session is the conversation of the workflow `session_id`, for the user and agent that are named; `who` is
    whom it acts as, the default organization's owner without. Another user's session of the same id is
    not there (`NotFound`). It begins on the branch `main`; which branch an object is on is its own affair.
    """

    session_id: str
    session_settings: SessionSettings | None

    @checked
    def __init__(
        self,
        memoranda: Given,
        session_id: str,
        who: Principal | None = None,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        generation: int = 1,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        text_input("session_id", session_id)
        self.session_id = session_id
        given = session_settings
        self.session_settings = (
            coerce_session_settings(given) if given is not None else SessionSettings()
        )
        self._home = home = Home.of(memoranda, who, user_id, agent_id)
        self._who, self._user_id = home.who, user_id
        self._branches = home.memoranda.conversations.branches
        self._branch = MAIN
        self._key = ConversationKey(
            workflow_id=session_id, generation=generation, agent_id=agent_id
        )

    @property
    def branch_id(self) -> str:
        """The branch that this object is on."""
        return self._branch

    async def get_items(
        self, limit: int | None = None, branch_id: str | None = None
    ) -> list[TResponseInputItem]:
        """The items in their order, or the last `limit` of them; without one, as many as the settings say.

        A branch that is named and not there has none. Raises `NotFound` where the one that this object is on was
        deleted: a run that went on as if nothing had been said would be the worse.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        latest = None if limit is None or limit < 0 else min(limit, MOST_READ)
        try:
            found = await self._messages(branch_id, latest)
        except (Gone, NotFound):
            if branch_id is None:
                raise
            return []
        return [_given(item_of(message)) for message in found]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items after the last one: all of them or none, up to 1,000 at a time."""
        made = [message_of(item) for item in items]
        for at in range(0, len(made), MOST_APPENDED):
            some = made[at : at + MOST_APPENDED]
            try:
                await self._asked(
                    self._branches.append(
                        self._who, self._key, some, branch=self._branch, user_id=self._user_id
                    )
                )
            except Gone:
                self._branch = MAIN  # cleared by another object of this session
                await self._asked(
                    self._branches.append(
                        self._who, self._key, some, branch=MAIN, user_id=self._user_id
                    )
                )

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item away and answer it; None where there is none."""
        try:
            taken = await self._asked(
                self._branches.take_last(
                    self._who, self._key, branch=self._branch, user_id=self._user_id
                )
            )
        except Gone:
            self._branch = MAIN  # cleared by another object of this session
            taken = await self._asked(
                self._branches.take_last(self._who, self._key, user_id=self._user_id)
            )
        return None if taken is None else _given(item_of(taken))

    async def clear_session(self) -> None:
        """Take all items away, and all branches; this object is on `main` then."""
        await self._asked(self._branches.clear(self._who, self._key, user_id=self._user_id))
        self._branch = MAIN

    async def create_branch_from_turn(
        self, turn_number: int, branch_name: str | None = None
    ) -> str:
        """Branch off before a turn of the user's, counted from 1 on this branch, and go on there; its name.

        Raises `ValueError` where there is no such turn, and for a name that is blank or was used before.
        """
        if branch_name is not None and not branch_name.strip():
            raise ValueError("Branch name cannot be empty: give one, or leave it out.")
        with _as_the_sdk_says(f"Turn {turn_number} does not contain a user message"):
            made = await self._asked(
                self._branches.create(
                    self._who,
                    self._key,
                    turn=turn_number,
                    name=branch_name,
                    source=self._branch,
                    user_id=self._user_id,
                )
            )
        self._branch = made.name
        return made.name

    async def create_branch_from_content(
        self, search_term: str, branch_name: str | None = None
    ) -> str:
        """Branch off before the first turn that holds the text. Raises `ValueError`."""
        turns = await self.find_turns_by_content(search_term)
        if not turns:
            raise ValueError(f"No user turns found containing {search_term[:PREVIEW]!r}.")
        return await self.create_branch_from_turn(turns[0]["turn"], branch_name)

    async def switch_to_branch(self, branch_id: str) -> None:
        """Go on with a branch. Raises `ValueError` where it is not there."""
        if branch_id != MAIN:
            with _as_the_sdk_says(f"Branch {branch_id!r} does not exist"):
                await self._asked(
                    self._branches.messages(
                        self._who, self._key, branch=branch_id, latest=0, user_id=self._user_id
                    )
                )
        self._branch = branch_id

    async def delete_branch(self, branch_id: str, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the SDK's own signature
        """Delete a branch; the one that this object is on with `force` alone, which puts it on `main`.

        Its name can't be given again. Raises `ValueError` for `main`, and where it is not there.
        """
        if not branch_id.strip():
            raise ValueError("Branch ID cannot be empty: name the branch to delete.")
        if branch_id == MAIN:
            raise ValueError("Cannot delete the 'main' branch: clear the session.")
        if branch_id == self._branch and not force:
            raise ValueError(
                f"Cannot delete current branch {branch_id!r}: use force=True, or switch to another first."
            )
        with _as_the_sdk_says(f"Branch {branch_id!r} does not exist"):
            await self._asked(
                self._branches.delete(self._who, self._key, branch_id, user_id=self._user_id)
            )
        if branch_id == self._branch:
            self._branch = MAIN

    async def list_branches(self) -> list[dict[str, Any]]:
        """The branches: `branch_id`, `message_count`, `user_turns`, `is_current`, `created_at`."""
        found = await self._asked(
            self._branches.listed(self._who, self._key, user_id=self._user_id)
        )
        return [
            {
                "branch_id": each.name,
                "message_count": each.messages,
                "user_turns": each.turns,
                "is_current": each.name == self._branch,
                "created_at": each.created_at.isoformat(),
            }
            for each in found
        ]

    async def get_conversation_turns(self, branch_id: str | None = None) -> list[dict[str, Any]]:
        """What the user said on a branch: `turn`, `content` (its beginning), `full_content`, `timestamp`, `can_branch`."""
        found = await self._messages(branch_id, None)
        said = [each for each in found if each.role == "user" and not is_summary(each)]
        return [_turn(number, each) for number, each in enumerate(said, 1)]

    async def find_turns_by_content(
        self, search_term: str, branch_id: str | None = None
    ) -> list[dict[str, Any]]:
        """Those turns that hold the text; the case of the letters A to Z makes no difference."""
        wanted = re.compile(re.escape(search_term), re.IGNORECASE | re.ASCII)
        turns = await self.get_conversation_turns(branch_id)
        return [each for each in turns if wanted.search(_text(each["full_content"]))]

    async def get_conversation_by_turns(
        self, branch_id: str | None = None
    ) -> dict[int, list[dict[str, str | None]]]:
        """Of which kind each item of a branch is, by turn of the user's: `type` and `tool_name`. 0 is before the first."""
        by_turn: dict[int, list[dict[str, str | None]]] = {}
        for each in await self._outline(branch_id):
            by_turn.setdefault(each.turn, []).append({"type": each.kind, "tool_name": each.tool})
        return by_turn

    async def get_tool_usage(self, branch_id: str | None = None) -> list[tuple[str, int, int]]:
        """How often each tool was called on a branch: its name, how often, and in which turn of the user's."""
        return used(await self._outline(branch_id))

    async def _asked(self, asked: Coroutine[Any, Any, T]) -> T:
        """What is answered. Raises `NotFound` that says whose the session is, to those who may know it."""
        try:
            return await self._home.run(asked)
        except NotFound as missing:
            if not await self._home.run(self._is_anothers()):
                raise
            raise NotFound(
                f"The session {self.session_id!r} is another user's, and not there for this one: name another "
                "workflow, or session, by an id that names its user too.",
                field="session_id",
            ) from missing

    async def _is_anothers(self) -> bool:
        """Whether a user who is not named has this session, as far as `who` sees conversations."""
        if self._user_id is None:
            return False
        found = await self._home.memoranda.conversations.of_workflow(
            self._who, self.session_id, limit=MOST_LISTED
        )
        key = self._key
        return any(
            each.user_id not in {None, self._user_id}
            for each in found.items
            if (each.generation, each.agent_id) == (key.generation, key.agent_id)
        )

    async def _outline(self, branch_id: str | None) -> list[Said]:
        found = await self._messages(branch_id, None)
        return outline(
            (item_of(each), each.role == "user" and not is_summary(each)) for each in found
        )

    async def _messages(self, branch_id: str | None, latest: int | None) -> list[StoredMessage]:
        branch = branch_id or self._branch
        try:
            return await self._asked(
                self._branches.messages(
                    self._who, self._key, branch=branch, latest=latest, user_id=self._user_id
                )
            )
        except Gone:
            if branch != self._branch:
                raise
            self._branch = MAIN  # cleared by another object of this session
            return await self._asked(
                self._branches.messages(self._who, self._key, latest=latest, user_id=self._user_id)
            )


@contextmanager
def _as_the_sdk_says(missing: str) -> Iterator[None]:
    """Raise `ValueError` for what the SDK's own sessions raise it for, in its words where something is `missing`."""
    try:
        yield
    except (Gone, NotFound) as error:
        raise ValueError(f"{missing}. {error.message}") from error
    except (Conflict, Invalid) as error:
        raise ValueError(error.message) from error


def _given(item: dict[str, Any]) -> TResponseInputItem:
    """The item under the SDK's own name for what it is."""
    given: Any = item
    return cast(
        "TResponseInputItem", given
    )  # a union of typed dicts, which plain ones can't be told from


def _turn(number: int, message: StoredMessage) -> dict[str, Any]:
    content = item_of(message).get("content", "")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return {
        "turn": number,
        "content": text if len(text) <= PREVIEW else f"{text[:PREVIEW]}...",
        "full_content": content,
        "timestamp": message.ts.isoformat(),
        "can_branch": True,
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
