"""What only memories can refuse."""

from memoranda.words.errors import Conflict, Gone


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
