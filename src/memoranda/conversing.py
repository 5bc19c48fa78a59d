"""Conversations joined to their summarizer, and to what a reset and a purge take along elsewhere."""

from memoranda.access.models import Principal
from memoranda.briefs.blocks import store as blocks
from memoranda.conversations.compaction.choice import choose_summarizer
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.listeners import Listeners, Woken
from memoranda.conversations.resets.models import Elsewhere, Spaces, SpacesReset
from memoranda.conversations.resets.service import Resets
from memoranda.conversations.service import Conversations
from memoranda.memories.candidate import Author
from memoranda.memories.removal.clearing import store as clearing
from memoranda.memories.ways import Ways
from memoranda.settings import Settings
from memoranda.storage import Storage, Transaction
from memoranda.tools.spaces import store as spaces
from memoranda.words.estimators import ESTIMATORS


def conversations_of(
    storage: Storage, ways: Ways, wake: Woken, settings: Settings
) -> Conversations:
    """The conversations of an opened product."""
    listeners = Listeners(wake)
    elsewhere = Elsewhere(_spaces(ways), blocks.clear_conversations)
    return Conversations(
        storage,
        limits=ConversationLimits(
            max_bytes=settings.conversation_max_bytes,
            result_chars=settings.tool_result_chars,
            seed_bytes=settings.seed_bytes,
        ),
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


def _spaces(ways: Ways) -> Spaces:
    def reset(tx: Transaction, who: Principal, workflow_id: str) -> SpacesReset:
        """Forget what is in those spaces of the workflow whose policy is to be cleared."""
        names = spaces.to_clear(tx, workflow_id)
        by = Author(user_id=who.user_id, agent_id=who.agent_id)
        return SpacesReset(names, clearing.forget_spaces(tx, names, by, ways))

    return reset
