"""When a stage of a run is given a new block, and how much of the text before it stays: pure."""

from memoranda.runs.models import Run, RunStatus


def builds(
    run: Run, stage: int, kept: int | None, *, refresh: bool | None, refresh_on_resume: bool
) -> bool:
    """Whether a block is to be built for the stage, where `kept` is the stage that the newest one is of.

    What is over builds nothing. The first stage builds, a later one where the policy wishes it:
    each begins after a wait. `refresh` overrules the policy, and lets a stage that failed be
    given another block.
    """
    if stage < run.stage or run.status in {RunStatus.COMPLETED, RunStatus.CANCELLED}:
        return False
    if kept is None:
        return True
    if refresh is not None:
        return refresh
    return kept < stage and refresh_on_resume


def stable_prefix(before: str, text: str) -> int:
    """How many leading bytes of the text, in UTF-8, are those of the text before it."""
    old, new = before.encode(), text.encode()
    least, most = 0, min(len(old), len(new))
    while least < most:
        middle = (least + most + 1) // 2
        if old[least:middle] == new[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least
