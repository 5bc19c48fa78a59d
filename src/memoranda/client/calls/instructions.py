"""What runs are told, and how much of a text arrives."""

from memoranda.client.answers import Listing
from memoranda.client.call import Call, Id, given
from memoranda.instructions.models import (
    AgentInstructions,
    AskAnAgent,
    FileReport,
    LoadReport,
    RunInstructions,
)
from memoranda.state.definitions.models import BoundSkill


def assemble_instructions(
    run_id: Id,
    *,
    query: str = "",
    capabilities: str | None = None,
    scope_advanced_prompts: str = "",
    scope_context: str = "",
    output_contract: str = "",
    refresh: bool = False,
) -> Call[RunInstructions]:
    """Get what the run is told: assembled where it was told nothing yet, else what is kept."""
    return Call(
        "POST",
        "/v1/runs/{run_id}/instructions",
        RunInstructions,
        at={"run_id": run_id},
        body=given(
            query=query,
            capabilities=capabilities,
            scope_advanced_prompts=scope_advanced_prompts,
            scope_context=scope_context,
            output_contract=output_contract,
            refresh=refresh,
        ),
    )


def get_run_instructions(run_id: Id, *, stage: int | None = None) -> Call[RunInstructions]:
    """Get what a stage of a run was told, which revisions of files that was, and what it cost."""
    return Call(
        "GET",
        "/v1/runs/{run_id}/instructions",
        RunInstructions,
        at={"run_id": run_id},
        query=given(stage=stage),
    )


def get_agent_instructions(agent: Id) -> Call[AgentInstructions]:
    """Get what is kept of an agent beside its files."""
    return Call("GET", "/v1/agents/{agent}/instructions", AgentInstructions, at={"agent": agent})


def set_agent_instructions(
    agent: Id, capabilities: str, *, skills_cap: int | None = None
) -> Call[AgentInstructions]:
    """Say what an agent can do, and what its skills may cost, from its next run on."""
    return Call(
        "PUT",
        "/v1/agents/{agent}/instructions",
        AgentInstructions,
        at={"agent": agent},
        body=given(capabilities=capabilities, skills_cap=skills_cap),
    )


def list_agent_skills(agent: Id) -> Call[Listing[BoundSkill]]:
    """List the skills that an agent is bound to, the highest priority first."""
    return Call("GET", "/v1/agents/{agent}/skills", Listing[BoundSkill], at={"agent": agent})


def bind_skill(agent: Id, definition_id: Id, *, priority: int = 0) -> Call[Listing[BoundSkill]]:
    """Bind an agent to a skill, or say its priority anew; all that it is bound to then."""
    return Call(
        "PUT",
        "/v1/agents/{agent}/skills/{definition_id}",
        Listing[BoundSkill],
        at={"agent": agent, "definition_id": definition_id},
        body=given(priority=priority),
    )


def unbind_skill(agent: Id, definition_id: Id) -> Call[Listing[BoundSkill]]:
    """Take a skill away from an agent; those that it is still bound to."""
    return Call(
        "DELETE",
        "/v1/agents/{agent}/skills/{definition_id}",
        Listing[BoundSkill],
        at={"agent": agent, "definition_id": definition_id},
    )


def get_context_load(agent: Id) -> Call[LoadReport]:
    """Get all fourteen segments of an agent's next run, from what is saved, without running anything."""
    return Call("GET", "/v1/agents/{agent}/context-load", LoadReport, at={"agent": agent})


def measure_context_load(
    agent: Id,
    *,
    query: str = "",
    capabilities: str | None = None,
    scope_advanced_prompts: str = "",
    scope_context: str = "",
    output_contract: str = "",
    user_id: Id | None = None,
) -> Call[LoadReport]:
    """Measure all fourteen segments as a run for this user and with this request would have them."""
    return Call(
        "POST",
        "/v1/agents/{agent}/context-load",
        LoadReport,
        at={"agent": agent},
        body=given(
            query=query,
            capabilities=capabilities,
            scope_advanced_prompts=scope_advanced_prompts,
            scope_context=scope_context,
            output_contract=output_contract,
            user_id=user_id,
        ),
        repeatable=True,
    )


def get_file_load(slug: str, *, preview: bool = False) -> Call[FileReport]:
    """Get how much of an organization's file reaches agents."""
    return Call(
        "GET",
        "/v1/context-files/{slug}/load-report",
        FileReport,
        at={"slug": slug},
        query=given(preview=preview),
    )


def measure_file_load(slug: str, body: str, *, preview: bool = False) -> Call[FileReport]:
    """Measure a body that is not saved, as if the organization's file said it."""
    return Call(
        "POST",
        "/v1/context-files/{slug}/load-report",
        FileReport,
        at={"slug": slug},
        query=given(preview=preview),
        body=given(body=body),
        repeatable=True,
    )


def ask_about_file(slug: str) -> Call[AskAnAgent]:
    """Get a message that asks an agent to update the file, and the text that rides along. Nothing is sent."""
    return Call("GET", "/v1/context-files/{slug}/ask", AskAnAgent, at={"slug": slug})


def get_agent_file_load(agent: Id, name: str, *, preview: bool = False) -> Call[FileReport]:
    """Get how much of an agent's file reaches it."""
    return Call(
        "GET",
        "/v1/agents/{agent}/files/{name}/load-report",
        FileReport,
        at={"agent": agent, "name": name},
        query=given(preview=preview),
    )


def measure_agent_file_load(
    agent: Id, name: str, body: str, *, preview: bool = False
) -> Call[FileReport]:
    """Measure a body that is not saved, as if the agent's file said it."""
    return Call(
        "POST",
        "/v1/agents/{agent}/files/{name}/load-report",
        FileReport,
        at={"agent": agent, "name": name},
        query=given(preview=preview),
        body=given(body=body),
        repeatable=True,
    )


def ask_about_agent_file(agent: Id, name: str) -> Call[AskAnAgent]:
    """Get a message that asks the agent to update its file, and the text that rides along. Nothing is sent."""
    return Call(
        "GET", "/v1/agents/{agent}/files/{name}/ask", AskAnAgent, at={"agent": agent, "name": name}
    )
