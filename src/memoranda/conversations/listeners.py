"""Whoever listens to conversations in this process is told once a change is committed, and can fail nothing."""

import logging
from asyncio import CancelledError
from collections.abc import Callable
from functools import partial
from inspect import iscoroutinefunction
from typing import TypeAlias
from uuid import UUID

from memoranda.conversations.models import ChangeAction, Conversation, ConversationChange
from memoranda.words.errors import Invalid

logger = logging.getLogger(__name__)

Listener: TypeAlias = Callable[[ConversationChange], None]
Woken: TypeAlias = Callable[[UUID], None]
"""Called with the organization after each commit: it wakes those who follow its events."""


def nobody(_: UUID) -> None:
    """Wake nobody."""


class Listeners:
    """Those who listen, in the order in which they came. They are called on the event loop, and must not block it."""

    def __init__(self, woken: Woken = nobody) -> None:
        self._woken = woken
        self._listeners: list[Listener] = []

    def add(self, listener: Listener) -> Callable[[], None]:
        """Listen from now on; the answer is what ends it, and may be called again.

        Raises `Invalid` for what can't be called or would have to be awaited: nobody would hear anything.
        """
        # An object is called as its class says, which may be as a coroutine.
        given: object = listener
        if not callable(given) or any(map(iscoroutinefunction, (given, type(given).__call__))):
            raise Invalid(
                "A listener is a plain function: let it start a task for what takes its time.",
                field="listener",
            )
        self._listeners.append(listener)

        def end() -> None:
            # The very listener, however many are equal to it.
            self._listeners[:] = [each for each in self._listeners if each is not listener]

        return end

    def tell(self, organization_id: UUID, action: ChangeAction, *of: Conversation) -> None:
        """Tell everybody what changed. What one raises is logged, and the next is told."""
        self._safely(organization_id, partial(self._woken, organization_id))
        for conversation in of:
            change = ConversationChange(action=action, conversation=conversation)
            for listener in list(self._listeners):
                self._safely(organization_id, partial(listener, change))

    @staticmethod
    def _safely(organization_id: UUID, call: Callable[[], object]) -> None:
        try:
            call()
        except (Exception, CancelledError):
            # Nothing is awaited here: even the latter was raised by the listener.
            logger.exception(
                "A listener failed after a conversation changed in organization %s.",
                organization_id,
            )
