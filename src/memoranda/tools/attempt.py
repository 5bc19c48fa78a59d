"""One call on its way: what is known of it so far, for the journal and for its span."""

import time
from dataclasses import dataclass, field
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.tools.journal.line import UNKNOWN, Ending, Line
from memoranda.tools.models import Course, Input, Tool


@dataclass
class Attempt:
    """A call from the moment in which it came."""

    organization: UUID
    tool: Tool | None
    who: Principal
    course: Course
    arguments: Input | None = None
    counted: bool = False
    began: float = field(default_factory=time.perf_counter)

    def line(self, ending: Ending, *, code: str | None = None, items: int | None = None) -> Line:
        """What the journal says of it, if it ends now and so."""
        space = self.who.space
        return Line(
            tool=UNKNOWN if self.tool is None else self.tool.name,
            outcome=ending,
            code=code,
            user_id=self.who.user_id,
            agent_id=self.who.agent_id,
            space_id=None if space is None else space.id,
            run_id=self.course.run_id,
            conversation_id=self.course.conversation_id,
            memory_id=self._about(),
            milliseconds=round((time.perf_counter() - self.began) * 1_000),
            items=items,
        )

    def to_count(self, most: int) -> bool:
        """Whether it counts for its run and has not been counted yet; a run may call without end where `most` is 0."""
        in_a_run = self.tool is not None and self.course.run_id is not None
        return in_a_run and most > 0 and not self.counted

    def _about(self) -> UUID | None:
        if self.tool is None or self.arguments is None:
            return None
        return self.tool.about(self.arguments)
