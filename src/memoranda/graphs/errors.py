"""What graphs refuse."""

from memoranda.words.errors import Conflict


class NeedsWhatCameBefore(Conflict):
    """A checkpoint can't be read without those before it, so they can't go. Nothing was pruned."""

    code = "needs_what_came_before"
