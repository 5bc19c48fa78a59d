"""The rooms of the client, and the operation that is behind each verb."""

from memoranda.client.awaited.verbs import Asked, Followed, Lined, Paged, Room
from memoranda.client.calls import (
    access,
    agent_files,
    briefs,
    chat_runs,
    chats,
    conversation_keys,
    conversation_sizes,
    conversations,
    definitions,
    dossier,
    events,
    file_proposals,
    files,
    graphs,
    health,
    instructions,
    kept,
    knowledge,
    memories,
    proposals,
    runs,
    state,
    tools,
)
from memoranda.client.streams import told, told_of_run


class Memories(Room):
    """What is remembered."""

    remember = Asked(memories.remember)
    list = Paged(memories.list_memories)
    get = Asked(memories.get_memory)
    search = Asked(memories.search_memories)
    recall = Asked(memories.recall)
    update = Asked(memories.update_memory)
    history = Asked(memories.memory_history)
    stats = Asked(memories.memory_stats)
    forget = Asked(memories.forget)
    restore = Asked(memories.restore_memory)
    forget_all = Asked(memories.forget_all)
    erase = Asked(memories.erase_memory)
    erase_user = Asked(memories.erase_user)
    export = Lined(memories.export_memories)
    take_in = Asked(memories.import_memories)


class Proposals(Room):
    """Proposed memories, which wait for a person."""

    propose = Asked(proposals.propose)
    list = Paged(proposals.list_proposals)
    get = Asked(proposals.get_proposal)
    accept = Asked(proposals.accept_proposal)
    discard = Asked(proposals.discard_proposal)
    restore = Asked(proposals.restore_proposal)
    tidy_up = Asked(proposals.tidy_up)


class Briefs(Room):
    """What a run may know, as one block of text."""

    build = Asked(briefs.build_brief)


class Policies(Room):
    """What shapes briefs."""

    publish = Asked(briefs.publish_policy)
    list = Asked(briefs.list_policies)
    get = Asked(briefs.get_policy)


class Knowledge(Room):
    """Documents, and what is found in them."""

    add = Asked(knowledge.add_source)
    list = Paged(knowledge.list_sources)
    get = Asked(knowledge.get_source)
    describe = Asked(knowledge.describe_source)
    retry = Asked(knowledge.retry_source)
    remove = Asked(knowledge.remove_source)
    search = Asked(knowledge.search_knowledge)
    model = Asked(knowledge.get_model)
    switch_model = Asked(knowledge.switch_model)
    cancel_switch = Asked(knowledge.cancel_switch)


class Conversations(Room):
    """What was said, by the conversation's id."""

    create = Asked(conversations.create_conversation)
    list = Paged(conversations.list_conversations)
    get = Asked(conversations.get_conversation)
    load = Asked(conversations.load_conversation)
    save = Asked(conversations.save_conversation)
    append = Asked(conversations.append_messages)
    messages = Asked(conversations.list_messages)
    clear = Asked(conversations.clear_conversation)
    purge = Asked(conversations.purge_conversation)
    search = Asked(conversations.search_conversations)
    compact = Asked(conversation_sizes.compact_conversation)
    compact_if_due = Asked(conversation_sizes.compact_conversation_if_due)
    attempts = Paged(conversation_sizes.list_compaction_attempts)
    history = Paged(conversation_sizes.get_conversation_history)
    pressure = Asked(conversation_sizes.get_pressure)
    pin = Asked(conversation_sizes.pin_message)
    unpin = Asked(conversation_sizes.unpin_message)
    record_usage = Asked(conversation_sizes.record_usage)
    usage = Asked(conversation_sizes.get_usage)
    total_usage = Asked(conversation_sizes.get_total_usage)
    fidelity = Asked(conversation_sizes.list_fidelity)


class Workflows(Room):
    """The conversations of a host's workflow, by its own id for it."""

    load = Asked(conversation_keys.load_conversation_of_key)
    save = Asked(conversation_keys.save_conversation_of_key)
    append = Asked(conversation_keys.append_messages_of_key)
    clear = Asked(conversation_keys.clear_conversation_of_key)
    reset = Asked(conversation_keys.reset_workflow)
    purge = Asked(conversation_keys.purge_workflow)
    generation = Asked(conversation_keys.get_generation)


class Chats(Room):
    """What people say, edit and switch between, and what they think of answers."""

    create = Asked(chats.create_chat)
    list = Paged(chats.list_chats)
    get = Asked(chats.get_chat)
    thread = Asked(chats.get_thread)
    export = Lined(chats.export_chat)
    send = Asked(chats.send_message)
    edit = Asked(chats.edit_message)
    regenerate = Asked(chats.regenerate_answer)
    switch = Asked(chats.switch_branch)
    clear = Asked(chats.clear_chat)
    delete = Asked(chats.delete_chat)
    notes = Paged(chats.list_notes)
    note = Asked(chats.leave_note)
    take_note_back = Asked(chats.take_note_back)
    ratings = Asked(chats.list_feedback)
    rate = Asked(chats.give_feedback)
    take_rating_back = Asked(chats.take_feedback_back)


class ChatRuns(Room):
    """The runs that answer in chats, for those who run them and those who watch."""

    list = Paged(chat_runs.list_chat_runs)
    get = Asked(chat_runs.get_chat_run)
    pick_up = Asked(chat_runs.pick_up_chat_run)
    prepare = Asked(chat_runs.prepare_agent)
    wait = Asked(chat_runs.wait_chat_run)
    resume = Asked(chat_runs.resume_chat_run)
    emit = Asked(chat_runs.tell_chat_run)
    answer = Asked(chat_runs.answer_chat_run)
    fail = Asked(chat_runs.fail_chat_run)
    stop = Asked(chat_runs.stop_chat_run)
    snapshot = Asked(chat_runs.get_chat_run_snapshot)
    events = Asked(chat_runs.list_chat_run_events)
    follow = Followed(chat_runs.follow_chat_run, told_of_run)


class Graphs(Room):
    """What graphs keep: threads with their checkpoints, and namespaces with their items."""

    threads = Paged(graphs.list_graph_threads)
    checkpoints = Paged(graphs.list_checkpoints)
    checkpoint = Asked(graphs.get_checkpoint)
    purge_thread = Asked(graphs.purge_graph_thread)
    namespaces = Paged(graphs.list_graph_namespaces)
    items = Paged(graphs.list_graph_items)
    item = Asked(graphs.get_graph_item)
    purge_item = Asked(graphs.purge_graph_item)
    purge_items = Asked(graphs.purge_graph_items)


class Kept(Room):
    """What agent frameworks keep in forms of their own."""

    counts = Asked(kept.get_kept_counts)
    export = Lined(kept.export_kept)
    histories = Paged(kept.list_histories)
    history = Asked(kept.get_history)
    entries = Paged(kept.list_history_entries)
    purge_history = Asked(kept.purge_history)
    sessions = Paged(kept.list_sessions)
    session = Asked(kept.get_session)
    events = Asked(kept.list_session_events)
    purge_session = Asked(kept.purge_session)
    states = Paged(kept.list_session_states)
    purge_state = Asked(kept.purge_session_state)
    branches = Paged(kept.list_branches)
    purge_branch = Asked(kept.purge_branch)


class Runs(Room):
    """Runs: what they wait for, what they were told, how they ended."""

    create = Asked(runs.create_run)
    list = Paged(runs.list_runs)
    get = Asked(runs.get_run)
    wait = Asked(runs.wait_run)
    resume = Asked(runs.resume_run)
    complete = Asked(runs.complete_run)
    fail = Asked(runs.fail_run)
    cancel = Asked(runs.cancel_run)
    brief = Asked(runs.build_run_block)
    block = Asked(runs.get_run_block)
    log = Asked(runs.log_run)
    logs = Paged(runs.list_run_logs)
    assemble = Asked(instructions.assemble_instructions)
    instructions = Asked(instructions.get_run_instructions)
    activities = Paged(runs.list_activities)


class Events(Room):
    """What changes, as it changes."""

    follow = Followed(events.follow_events, told)


class State(Room):
    """The application's own rows."""

    kinds = Asked(state.list_state_kinds)
    resolve = Asked(state.resolve_state)


class Tools(Room):
    """What a model may call, and what people say of it."""

    list = Asked(tools.list_tools)
    call = Asked(tools.call_tool)
    calls = Paged(tools.list_tool_calls)
    policies = Paged(tools.list_tool_policies)
    set_policy = Asked(tools.set_tool_policy)
    approvals = Paged(tools.list_approvals)
    approval = Asked(tools.get_approval)
    approve = Asked(tools.approve_call)
    deny = Asked(tools.deny_call)
    spaces = Paged(tools.list_spaces)
    publish_space = Asked(tools.publish_space)
    withdraw_space = Asked(tools.withdraw_space)
    inbox = Paged(tools.list_inbox)


class Dossier(Room):
    """What an organization says of itself."""

    get = Asked(dossier.get_dossier)
    put = Asked(dossier.put_dossier)
    get_user = Asked(dossier.get_user_section)
    put_user = Asked(dossier.put_user_section)


class Definitions(Room):
    """Definitions of agents, workflows and skills."""

    create = Asked(definitions.create_definition)
    list = Paged(definitions.list_definitions)
    get = Asked(definitions.get_definition)
    update = Asked(definitions.update_definition)
    remove = Asked(definitions.remove_definition)
    publish = Asked(definitions.publish_definition)
    unpublish = Asked(definitions.unpublish_definition)


class Files(Room):
    """The organization's context files."""

    list = Asked(files.list_context_files)
    get = Asked(files.get_context_file)
    write = Asked(files.write_context_file)
    set_load_mode = Asked(files.set_load_mode)
    history = Asked(files.list_file_revisions)
    revision = Asked(files.get_file_revision)
    as_of = Asked(files.get_file_as_of)
    restore = Asked(files.restore_file_revision)
    erase_revision = Asked(files.erase_file_revision)
    propose = Asked(files.propose_file_change)
    load = Asked(instructions.get_file_load)
    measure = Asked(instructions.measure_file_load)
    ask = Asked(instructions.ask_about_file)


class AgentFiles(Room):
    """An agent's files, and how much of them arrives."""

    list = Asked(agent_files.list_agent_files)
    get = Asked(agent_files.get_agent_file)
    write = Asked(agent_files.write_agent_file)
    history = Asked(agent_files.list_agent_file_revisions)
    revision = Asked(agent_files.get_agent_file_revision)
    as_of = Asked(agent_files.get_agent_file_as_of)
    restore = Asked(agent_files.restore_agent_file_revision)
    erase_revision = Asked(agent_files.erase_agent_file_revision)
    propose = Asked(agent_files.propose_agent_file_change)
    load = Asked(instructions.get_agent_file_load)
    measure = Asked(instructions.measure_agent_file_load)
    ask = Asked(instructions.ask_about_agent_file)


class FileProposals(Room):
    """Changes of files that wait for an owner."""

    list = Paged(file_proposals.list_file_proposals)
    get = Asked(file_proposals.get_file_proposal)
    apply = Asked(file_proposals.apply_file_proposal)
    discard = Asked(file_proposals.discard_file_proposal)


class Agents(Room):
    """Agents, what is kept of them beside their files, and what they would be told."""

    create = Asked(access.create_agent)
    list = Paged(access.list_agents)
    get = Asked(access.get_agent)
    load = Asked(instructions.get_context_load)
    measure = Asked(instructions.measure_context_load)
    skills = Asked(instructions.list_agent_skills)
    bind = Asked(instructions.bind_skill)
    unbind = Asked(instructions.unbind_skill)
    set_instructions = Asked(instructions.set_agent_instructions)
    instructions = Asked(instructions.get_agent_instructions)


class Users(Room):
    """The organization's users."""

    create = Asked(access.create_user)
    list = Paged(access.list_users)
    get = Asked(access.get_user)


class Organizations(Room):
    """Organizations, for their operator."""

    create = Asked(access.create_organization)
    list = Paged(access.list_organizations)


class Keys(Room):
    """Keys, each shown once."""

    create = Asked(access.create_key)
    list = Paged(access.list_keys)
    revoke = Asked(access.revoke_key)


class Health(Room):
    """Whether the server lives, and whether it can serve."""

    alive = Asked(health.healthz)
    ready = Asked(health.readyz)
