"""Whose rows a caller may see: a range of users and a range of agents. Pure."""

from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of

NOBODY: Final = UUID(int=0)
"""Stands for no user, or no agent, where a row names none."""
_LAST: Final = UUID(int=2**128 - 1)


class Reach(NamedTuple):
    """From which user and agent to which; one alone is from it to itself."""

    first_user: UUID
    last_user: UUID
    first_agent: UUID
    last_agent: UUID

    def holds(self, user_id: UUID | None, agent_id: UUID | None) -> bool:
        """Whether what is kept for them is within it."""
        user, agent = user_id or NOBODY, agent_id or NOBODY
        return (
            self.first_user <= user <= self.last_user
            and self.first_agent <= agent <= self.last_agent
        )


EVERYBODY: Final = Reach(NOBODY, _LAST, NOBODY, _LAST)


def reach_of(who: Principal, user_id: UUID | None = None, agent_id: UUID | None = None) -> Reach:
    """All that the caller may see of what is kept for those who are named, and for anybody where none is.

    A member sees what is its user's, with whichever agent; an agent's key what is exactly its own. Raises
    `Refused` for another's.
    """
    subject = subject_of(who, agent_id, user_id)
    alone = who.role is Role.AGENT
    return Reach(*_range(subject.user_id, alone=alone), *_range(subject.agent_id, alone=alone))


def _range(named: UUID | None, *, alone: bool) -> tuple[UUID, UUID]:
    if named is None and not alone:
        return NOBODY, _LAST
    return named or NOBODY, named or NOBODY
