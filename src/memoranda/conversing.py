"""Conversations and chats joined to their summarizer, and to what a reset and a purge take along elsewhere."""

from asyncio import Event
from datetime import timedelta
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.briefs.blocks import store as blocks
from memoranda.conversations.chats.following.ears import Ears
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.live.patience import Patience
from memoranda.conversations.chats.removing import forget_user
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.compaction.choice import choose_summarizer
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.histories import store as histories
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.listeners import Listeners, Woken
from memoranda.conversations.resets.models import Elsewhere, Spaces, SpacesReset
from memoranda.conversations.resets.service import Resets
from memoranda.conversations.service import Conversations
from memoranda.conversations.sessions import store as sessions
from memoranda.conversations.writing import purge_user
from memoranda.graphs.holders.store import remove_user as clear_graphs
from memoranda.memories.candidate import Author
from memoranda.memories.removal.clearing import store as clearing
from memoranda.memories.removal.models import AlsoErased
from memoranda.memories.ways import Ways
from memoranda.settings import Settings
from memoranda.storage import Storage, Transaction
from memoranda.tools.spaces import store as spaces
from memoranda.words.estimators import ESTIMATORS


def conversations_of(
    storage: Storage, ways: Ways, listeners: Listeners, settings: Settings
) -> Conversations:
    """The conversations of an opened product."""
    elsewhere = Elsewhere(_spaces(ways), blocks.clear_conversations)
    return Conversations(
        storage,
        limits=_limits(settings),
        listeners=listeners,
        resets=Resets(storage, listeners=listeners, elsewhere=elsewhere),
        compactions=Compactions(
            storage,
            choose_summarizer(settings),
            estimator=ESTIMATORS[settings.estimator],
            summary_tokens=settings.summary_tokens,
            result_chars=settings.tool_result_chars,
            budget=settings.seed_bytes,
            told=listeners.tell,
        ),
    )


def chats_of(
    storage: Storage, listeners: Listeners, wake: Woken, settings: Settings, closed: Event
) -> Chats:
    """The chats of an opened product; nobody follows a run any more once `closed` is set."""
    live = LiveRuns(storage, wake, patience=patience_of(settings), ears=Ears(closed))
    return Chats(
        storage,
        limits=_limits(settings),
        listeners=listeners,
        quoted=blocks.clear_conversations,
        live=live,
    )


def patience_of(settings: Settings) -> Patience:
    """How long a chat's run may go unheard of before it is ended."""
    return Patience(
        queued=timedelta(seconds=settings.chat_queued_s),
        silent=timedelta(seconds=settings.chat_silent_s),
        waiting=timedelta(seconds=settings.chat_waiting_s),
        stopping=timedelta(seconds=settings.chat_stopping_s),
    )


def _limits(settings: Settings) -> ConversationLimits:
    return ConversationLimits(
        max_bytes=settings.conversation_max_bytes,
        result_chars=settings.tool_result_chars,
        seed_bytes=settings.seed_bytes,
    )


def clear_user(tx: Transaction, user_id: UUID) -> AlsoErased:
    """Delete all that was said with a user, also what frameworks and graphs keep of it in a form of their own."""
    chats = forget_user(tx, user_id)  # first, since a chat is held before conversations are
    conversations = len(purge_user(tx, user_id))
    histories.clear_user(tx, user_id)
    sessions.clear_user(tx, user_id)
    clear_graphs(tx, user_id)
    return AlsoErased(chats, conversations)


def _spaces(ways: Ways) -> Spaces:
    def reset(tx: Transaction, who: Principal, workflow_id: str) -> SpacesReset:
        """Forget what is in those spaces of the workflow whose policy is to be cleared."""
        names = spaces.to_clear(tx, workflow_id)
        by = Author(user_id=who.user_id, agent_id=who.agent_id)
        return SpacesReset(names, clearing.forget_spaces(tx, names, by, ways))

    return reset
