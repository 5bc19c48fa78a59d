"""Every table, declared once, and the promises about rows that triggers keep."""

from typing import Final

from memoranda.storage.tables.access import agents, api_keys, organizations, rate_windows, users
from memoranda.storage.tables.base import METADATA
from memoranda.storage.tables.branches import conversation_branches
from memoranda.storage.tables.briefs import context_policies
from memoranda.storage.tables.chat_runs import (
    chat_branch_snapshots,
    chat_run_cursors,
    chat_run_events,
    chat_run_states,
    chat_runs,
)
from memoranda.storage.tables.chats import chat_feedback, chat_messages, chat_notes, chats
from memoranda.storage.tables.compactions import conversation_compactions, conversation_usage
from memoranda.storage.tables.conversation_search import conversation_marks, conversation_segments
from memoranda.storage.tables.conversations import (
    conversation_archive,
    conversation_fences,
    conversation_messages,
    conversations,
    workflow_generations,
)
from memoranda.storage.tables.definitions import agent_skills, definition_viewers, definitions
from memoranda.storage.tables.dossier import dossier_sections, dossiers
from memoranda.storage.tables.files import (
    context_file_proposals,
    context_file_revisions,
    context_files,
)
from memoranda.storage.tables.graphs import (
    graph_channels,
    graph_checkpoints,
    graph_holders,
    graph_item_vectors,
    graph_items,
    graph_writes,
)
from memoranda.storage.tables.histories import histories, history_entries, history_tips
from memoranda.storage.tables.instructions import (
    agent_instructions,
    run_instruction_facts,
    run_instructions,
)
from memoranda.storage.tables.jobs import schedules, work_signals
from memoranda.storage.tables.knowledge import (
    knowledge_chunks,
    knowledge_embeddings,
    knowledge_settings,
    knowledge_sources,
    knowledge_uploads,
    knowledge_vectors,
)
from memoranda.storage.tables.memories import (
    memories,
    memory_counts,
    memory_proposals,
    memory_revisions,
    purged_memories,
)
from memoranda.storage.tables.runs import (
    activities,
    event_counters,
    events,
    run_block_items,
    run_blocks,
    run_changes,
    run_logs,
    run_refs,
    runs,
)
from memoranda.storage.tables.search import (
    search_documents,
    search_models,
    search_postings,
    search_terms,
    search_totals,
    search_vectors,
)
from memoranda.storage.tables.sessions import (
    agent_session_events,
    agent_session_states,
    agent_sessions,
)
from memoranda.storage.tables.tools import (
    key_spaces,
    tool_approvals,
    tool_calls,
    tool_counts,
    tool_policies,
    tool_receipts,
    tool_spaces,
)

# Table → the promise (and trigger) that no row of it is ever changed.
APPEND_ONLY: Final = {
    "memory_revisions": "revisions_are_append_only",
    "context_file_revisions": "file_revisions_are_append_only",
    "activities": "activities_are_append_only",
    "context_policies": "published_policies_do_not_change",
    "conversation_compactions": "compactions_are_append_only",
    "conversation_usage": "usage_is_append_only",
}
# Table → the promise (and trigger) that these columns keep what they were made with.
FIXED_COLUMNS: Final = {
    "memories": (
        "a_memory_keeps_its_audience_and_key",
        ("organization_id", "user_id", "agent_id", "space", "audience", "subject_key"),
    ),
}

__all__ = [
    "APPEND_ONLY",
    "FIXED_COLUMNS",
    "METADATA",
    "activities",
    "agent_instructions",
    "agent_session_events",
    "agent_session_states",
    "agent_sessions",
    "agent_skills",
    "agents",
    "api_keys",
    "chat_branch_snapshots",
    "chat_feedback",
    "chat_messages",
    "chat_notes",
    "chat_run_cursors",
    "chat_run_events",
    "chat_run_states",
    "chat_runs",
    "chats",
    "context_file_proposals",
    "context_file_revisions",
    "context_files",
    "context_policies",
    "conversation_archive",
    "conversation_branches",
    "conversation_compactions",
    "conversation_fences",
    "conversation_marks",
    "conversation_messages",
    "conversation_segments",
    "conversation_usage",
    "conversations",
    "definition_viewers",
    "definitions",
    "dossier_sections",
    "dossiers",
    "event_counters",
    "events",
    "graph_channels",
    "graph_checkpoints",
    "graph_holders",
    "graph_item_vectors",
    "graph_items",
    "graph_writes",
    "histories",
    "history_entries",
    "history_tips",
    "key_spaces",
    "knowledge_chunks",
    "knowledge_embeddings",
    "knowledge_settings",
    "knowledge_sources",
    "knowledge_uploads",
    "knowledge_vectors",
    "memories",
    "memory_counts",
    "memory_proposals",
    "memory_revisions",
    "organizations",
    "purged_memories",
    "rate_windows",
    "run_block_items",
    "run_blocks",
    "run_changes",
    "run_instruction_facts",
    "run_instructions",
    "run_logs",
    "run_refs",
    "runs",
    "schedules",
    "search_documents",
    "search_models",
    "search_postings",
    "search_terms",
    "search_totals",
    "search_vectors",
    "tool_approvals",
    "tool_calls",
    "tool_counts",
    "tool_policies",
    "tool_receipts",
    "tool_spaces",
    "users",
    "work_signals",
    "workflow_generations",
]
