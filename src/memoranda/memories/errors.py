"""What only memories can refuse."""

from uuid import UUID

from memoranda.words.errors import Conflict, Gone, NotFound, OverLimit


class MemoriesFull(Conflict):
    """The organization has as many active memories as it may. `details` carries the limit."""

    code = "memories_full"


class PinsFull(Conflict):
    """As many memories are pinned as may be. `details` carries the limit."""

    code = "pins_full"


class StaleVersion(Conflict):
    """The memory has changed since. `details` carries its current version and text."""

    code = "stale_version"


class NotRestorable(Gone):
    """It was forgotten or purged too long ago to come back."""

    code = "not_restorable"


class TooOften(OverLimit):
    """All memories were forgotten too many times within an hour. `details` says when to ask again."""

    code = "too_often"
    retryable = True


def unknown_memory(memory_id: UUID) -> NotFound:
    """The refusal of a memory that is not there, or not for this caller."""
    return NotFound(
        f"There is no memory {memory_id}. A list of memories shows the ids that there are.",
        memory_id=str(memory_id),
    )
