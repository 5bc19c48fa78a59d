"""What graphs refuse."""

from typing import Final

from memoranda.words.errors import Conflict
from memoranda.words.subject import ContextSubject

NAMING: Final = (
    "Each user and agent has its own: name them (user_id and agent_id, or --user and --agent) as the lists "
    "show them."
)


def kept_for(subject: ContextSubject) -> str:
    """For whom it was looked: without a user and agent, what is kept for the organization itself."""
    named = [
        what
        for what, named_id in (("user", subject.user_id), ("agent", subject.agent_id))
        if named_id is not None
    ]
    return f"kept for this {' and '.join(named)}" if named else "kept for the organization itself"


class NeedsWhatCameBefore(Conflict):
    """A checkpoint can't be read without those before it, so they can't go. Nothing was pruned."""

    code = "needs_what_came_before"
