"""What only histories refuse."""

from memoranda.words.errors import Conflict


class HistoryChanged(Conflict):
    """The history was written or deleted since it was read, or what it points at is gone: read it again."""

    code = "history_changed"


def changed(name: str) -> HistoryChanged:
    """The refusal of what was made from another revision than the present one."""
    return HistoryChanged(
        f"The history {name!r} is not as it was read: read it again, then write.", history=name
    )
