"""The sources that come with the product, in the order in which briefs know them."""

from memoranda.briefs.dossier import DossierReader
from memoranda.briefs.registry import ContextSourceRegistry
from memoranda.briefs.sources.application import ApplicationSource
from memoranda.briefs.sources.conversation import ConversationSource
from memoranda.briefs.sources.definition_summary import DefinitionSummarySource
from memoranda.briefs.sources.dossier import DossierSource
from memoranda.briefs.sources.knowledge import KnowledgeSource
from memoranda.briefs.sources.memory import MemorySource
from memoranda.briefs.sources.outreach import OUTREACH, OutreachSource
from memoranda.briefs.sources.personal_memory import PersonalMemorySource
from memoranda.briefs.sources.run_history import RunHistorySource
from memoranda.conversations.service import Conversations
from memoranda.knowledge.service import Knowledge
from memoranda.memories.service import Memories
from memoranda.runs.history.service import RunHistory
from memoranda.state.definitions.summaries import DefinitionSummaries
from memoranda.state.service import StateReader
from memoranda.storage import Storage
from memoranda.words.tokens import Estimator


def own_sources(
    storage: Storage,
    *,
    memories: Memories,
    knowledge: Knowledge,
    conversations: Conversations,
    state: StateReader,
    dossier: DossierReader,
    estimator: Estimator,
) -> ContextSourceRegistry:
    """All of them; those of an application's rows only where it has declared some."""
    return ContextSourceRegistry(
        [
            MemorySource(memories),
            PersonalMemorySource(memories),
            KnowledgeSource(knowledge, estimator),
            ConversationSource(conversations, estimator),
            DossierSource(dossier),
            DefinitionSummarySource(DefinitionSummaries(storage)),
            RunHistorySource(RunHistory(storage)),
            *([ApplicationSource(state)] if state.has("application") else []),
            *(OutreachSource(state, each) for each in OUTREACH if state.has(each)),
        ]
    )
