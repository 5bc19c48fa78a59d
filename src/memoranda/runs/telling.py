"""Who may be told of whose runs, when it is not their own: what briefs tell of earlier runs, and no more. Pure."""

from memoranda.access.models import Principal
from memoranda.runs.models import Run


def may_be_told(who: Principal, run: Run) -> bool:
    """Whether a brief that `who` may ask for could tell of the run, so that what it cites can be looked up.

    The boundary is the organization. Within it a brief tells of the runs of the caller's own user, of
    any trigger that is named, and of those whose result names a row that is asked about.
    """
    if who.space is not None:
        return False
    own = run.user_id is not None and run.user_id == who.user_id
    return own or run.trigger_id is not None or bool(run.result and run.result.refs)


def as_told(run: Run) -> Run:
    """What is told of it: how it stands, what it came to, and why it waits or failed."""
    hidden = ("agent_id", "user_id", "trigger_id", "input", "chat_id")
    return run.model_copy(update={**dict.fromkeys(hidden), "whole": False})
