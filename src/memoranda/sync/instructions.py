"""Instructions and the load meter, for scripts: what runs are told, and how much of a text arrives."""

from uuid import UUID

from memoranda.instructions.models import (
    AgentInstructions,
    AskAnAgent,
    FileReport,
    InstructionRequest,
    LoadReport,
    RunInstructions,
)
from memoranda.state.definitions.models import BoundSkill
from memoranda.sync.opened import Room


class Instructions(Room):
    """What runs are told; each verb is that of `Instructions`, `LoadMeter` or `AgentSkills`."""

    def assemble(
        self, run_id: UUID, request: InstructionRequest | None = None, *, refresh: bool = False
    ) -> RunInstructions:
        """What a run is told, kept beside it; see `Instructions.assemble`."""
        return self._call(
            lambda at: at.instructions.assemble(at.owner, run_id, request, refresh=refresh)
        )

    def get(self, run_id: UUID, *, stage: int | None = None) -> RunInstructions:
        """What a run was told; see `Instructions.get`."""
        return self._call(lambda at: at.instructions.get(at.owner, run_id, stage=stage))

    def of_agent(self, agent: UUID | str) -> AgentInstructions:
        """What is kept of an agent beside its files; see `Instructions.of_agent`."""
        return self._call(lambda at: at.instructions.of_agent(at.owner, agent))

    def set_of_agent(
        self, agent: UUID | str, *, capabilities: str, skills_cap: int | None
    ) -> AgentInstructions:
        """Say that anew; see `Instructions.set_of_agent`."""
        return self._call(
            lambda at: at.instructions.set_of_agent(
                at.owner, agent, capabilities=capabilities, skills_cap=skills_cap
            )
        )

    def load(
        self,
        agent: UUID | str,
        request: InstructionRequest | None = None,
        *,
        user_id: UUID | None = None,
    ) -> LoadReport:
        """All fourteen segments of an agent's next run; see `LoadMeter.agent`."""
        return self._call(lambda at: at.load_meter.agent(at.owner, agent, request, user_id=user_id))

    def file_load(
        self,
        name: str,
        *,
        agent: UUID | str | None = None,
        body: str | None = None,
        with_preview: bool = False,
    ) -> FileReport:
        """How much of a file arrives; see `LoadMeter.file`."""
        return self._call(
            lambda at: at.load_meter.file(
                at.owner, name, agent=agent, body=body, with_preview=with_preview
            )
        )

    def ask(self, name: str, *, agent: UUID | str | None = None) -> AskAnAgent:
        """A message that asks an agent to update a file; see `LoadMeter.ask`."""
        return self._call(lambda at: at.load_meter.ask(at.owner, name, agent=agent))

    def skills(self, agent: UUID | str) -> list[BoundSkill]:
        """The skills of an agent; see `AgentSkills.bound`."""
        return self._call(lambda at: at.skills.bound(at.owner, agent))

    def bind(
        self, agent: UUID | str, definition_id: UUID, *, priority: int = 0
    ) -> list[BoundSkill]:
        """Give an agent a skill; see `AgentSkills.bind`."""
        return self._call(
            lambda at: at.skills.bind(at.owner, agent, definition_id, priority=priority)
        )

    def unbind(self, agent: UUID | str, definition_id: UUID) -> list[BoundSkill]:
        """Take a skill away; see `AgentSkills.unbind`."""
        return self._call(lambda at: at.skills.unbind(at.owner, agent, definition_id))
