"""Routes for what runs are told: assemble it, and measure it without running anything."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from memoranda.access.rates.service import Rate
from memoranda.files.errors import FileTooLarge, NotYourFile, UnknownFile
from memoranda.instructions.models import (
    AgentInstructions,
    AskAnAgent,
    FileReport,
    InstructionRequest,
    LoadReport,
    RunInstructions,
)
from memoranda.state.definitions.models import BoundSkill
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Flag, Listing, Number
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import Conflict, ReadOnly, SecretFound

routes = APIRouter(prefix="/v1", tags=["instructions"], route_class=Operation)

Preview = Annotated[
    bool, Query(description="Show the file in stretches too: what is given, and what is skipped.")
]


class InstructionsOfRun(InstructionRequest, Body):
    """What the caller adds to what is saved, and whether a text that is there is replaced."""

    refresh: Flag = False


class LoadToMeasure(InstructionRequest, Body):
    """What a run would be asked with, and for which user."""

    user_id: UUID | None = None


class InstructionsOfAgent(Body):
    """What is kept of an agent beside its files; `skills_cap` is null for the product's own."""

    capabilities: str
    skills_cap: Number | None = None


class SkillToBind(Body):
    """How late a skill is cut where not all have room: the higher, the later."""

    priority: Number = 0


class BodyToTry(Body):
    """What a file might say. It is measured, and not kept."""

    body: str


@routes.post("/runs/{run_id}/instructions")
@raises(Conflict, ReadOnly)
async def assemble_instructions(
    run_id: UUID, body: InstructionsOfRun, who: Caller, product: Product
) -> RunInstructions:
    """Get what the run is told: assembled where it was told nothing yet, else what is kept."""
    return await product.instructions.assemble(who, run_id, _request(body), refresh=body.refresh)


@routes.get("/runs/{run_id}/instructions")
async def get_run_instructions(
    run_id: UUID,
    who: Caller,
    product: Product,
    *,
    stage: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
) -> RunInstructions:
    """Get what a stage of a run was told, which revisions of files that was, and what it cost."""
    return await product.instructions.get(who, run_id, stage=stage)


@routes.get("/agents/{agent}/instructions")
@counted(Rate.LISTS)
async def get_agent_instructions(agent: str, who: Caller, product: Product) -> AgentInstructions:
    """Get what is kept of an agent beside its files."""
    return await product.instructions.of_agent(who, agent)


@routes.put("/agents/{agent}/instructions")
@raises(FileTooLarge, SecretFound, ReadOnly)
@counted(Rate.FILE_WRITES)
async def set_agent_instructions(
    agent: str, body: InstructionsOfAgent, who: Caller, product: Product
) -> AgentInstructions:
    """Say what an agent can do, and what its skills may cost, from its next run on."""
    return await product.instructions.set_of_agent(
        who, agent, capabilities=body.capabilities, skills_cap=body.skills_cap
    )


@routes.get("/agents/{agent}/skills")
@counted(Rate.LISTS)
async def list_agent_skills(agent: str, who: Caller, product: Product) -> Listing[BoundSkill]:
    """List the skills that an agent is bound to, the highest priority first."""
    return Listing(items=await product.skills.bound(who, agent))


@routes.put("/agents/{agent}/skills/{definition_id}")
@raises(ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def bind_skill(
    agent: str, definition_id: UUID, body: SkillToBind, who: Caller, product: Product
) -> Listing[BoundSkill]:
    """Bind an agent to a skill, or say its priority anew; all that it is bound to then."""
    bound = await product.skills.bind(who, agent, definition_id, priority=body.priority)
    return Listing(items=bound)


@routes.delete("/agents/{agent}/skills/{definition_id}")
@raises(ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def unbind_skill(
    agent: str, definition_id: UUID, who: Caller, product: Product
) -> Listing[BoundSkill]:
    """Take a skill away from an agent; those that it is still bound to."""
    return Listing(items=await product.skills.unbind(who, agent, definition_id))


@routes.get("/agents/{agent}/context-load")
@counted(Rate.LISTS)
async def get_context_load(agent: str, who: Caller, product: Product) -> LoadReport:
    """Get all fourteen segments of an agent's next run, from what is saved, without running anything."""
    return await product.load_meter.agent(who, agent)


@routes.post("/agents/{agent}/context-load")
@counted(Rate.LISTS)
async def measure_context_load(
    agent: str, body: LoadToMeasure, who: Caller, product: Product
) -> LoadReport:
    """Measure all fourteen segments as a run for this user and with this request would have them."""
    return await product.load_meter.agent(who, agent, _request(body), user_id=body.user_id)


@routes.get("/context-files/{slug}/load-report")
@raises(UnknownFile)
@counted(Rate.LISTS)
async def get_file_load(
    slug: str, who: Caller, product: Product, *, preview: Preview = False
) -> FileReport:
    """Get how much of an organization's file reaches agents."""
    return await product.load_meter.file(who, slug, with_preview=preview)


@routes.post("/context-files/{slug}/load-report")
@raises(UnknownFile, FileTooLarge)
async def measure_file_load(
    slug: str, body: BodyToTry, who: Caller, product: Product, *, preview: Preview = False
) -> FileReport:
    """Measure a body that is not saved, as if the organization's file said it."""
    return await product.load_meter.file(who, slug, body=body.body, with_preview=preview)


@routes.get("/context-files/{slug}/ask")
@raises(UnknownFile)
@counted(Rate.LISTS)
async def ask_about_file(slug: str, who: Caller, product: Product) -> AskAnAgent:
    """Get a message that asks an agent to update the file, and the text that rides along. Nothing is sent."""
    return await product.load_meter.ask(who, slug)


@routes.get("/agents/{agent}/files/{name}/load-report")
@raises(UnknownFile, NotYourFile)
@counted(Rate.LISTS)
async def get_agent_file_load(
    agent: str, name: str, who: Caller, product: Product, *, preview: Preview = False
) -> FileReport:
    """Get how much of an agent's file reaches it."""
    return await product.load_meter.file(who, name, agent=agent, with_preview=preview)


@routes.post("/agents/{agent}/files/{name}/load-report")
@raises(UnknownFile, NotYourFile, FileTooLarge)
async def measure_agent_file_load(
    agent: str,
    name: str,
    body: BodyToTry,
    who: Caller,
    product: Product,
    *,
    preview: Preview = False,
) -> FileReport:
    """Measure a body that is not saved, as if the agent's file said it."""
    return await product.load_meter.file(
        who, name, agent=agent, body=body.body, with_preview=preview
    )


@routes.get("/agents/{agent}/files/{name}/ask")
@raises(UnknownFile, NotYourFile)
@counted(Rate.LISTS)
async def ask_about_agent_file(agent: str, name: str, who: Caller, product: Product) -> AskAnAgent:
    """Get a message that asks the agent to update its file, and the text that rides along. Nothing is sent."""
    return await product.load_meter.ask(who, name, agent=agent)


def _request(body: InstructionRequest) -> InstructionRequest:
    return InstructionRequest(
        **{name: getattr(body, name) for name in InstructionRequest.model_fields}
    )
