"""How far a pending document is, told from what its rows say anyway."""

from memoranda.knowledge.models import SourceProgress, Step


def progress_of(
    *, held: bool, chunks: int, models: int, made: int, waits_for: str | None
) -> SourceProgress:
    """Return the step that a document is at: with a worker if `held`, and cut into `chunks` once it is read."""
    of = chunks * models
    step: Step = "writing"
    if not held:
        step = "waiting"
    elif not of:
        step = "reading"
    elif made < of:
        step = "embedding"
    return SourceProgress(step=step, done=min(made, of), of=of, waits_for=waits_for)
