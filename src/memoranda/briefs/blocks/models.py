"""The values of blocks."""

from datetime import datetime
from uuid import UUID

from memoranda.briefs.models import ContextBrief, ContextPolicy, Value


class RunBlock(Value):
    """The block that a run's stage was given, and the account of how it came to be.

    `stage` is the one that it was built for: a later stage may be given it again. `policy` is
    the one that was used, and `built` says whether this very call built it. A `pruned` one was kept
    longer than texts are: its brief has no text, and its explain no titles and excerpts; `digest` and
    `tokens` are those of the text that it had.
    """

    run_id: UUID
    stage: int
    built_at: datetime
    built: bool
    pruned: bool = False
    policy: ContextPolicy
    brief: ContextBrief
