"""What only context files can refuse."""

from memoranda.words.errors import Conflict, Gone, Invalid, NotFound, OverLimit, Refused


class UnknownFile(NotFound):
    """There is no context file of that name. `details` names those that there are."""

    code = "unknown_file"


class FileChanged(Conflict):
    """The file has changed since it was read. `details` carries the hash, the revision and the body that it has now."""

    code = "file_changed"


class FileTooLarge(OverLimit):
    """A context file has at most 65,536 bytes of UTF-8. `details` carries the limit and the size."""

    code = "file_too_large"


class AlwaysLoadedFull(Invalid):
    """As many workspace files are always loaded as may be. `details` names them."""

    code = "always_loaded_full"


class RevisionGone(Gone):
    """The file had that revision, and it is kept no longer."""

    code = "revision_gone"


class FileProposalsFull(Conflict):
    """As many proposed changes of files wait for a person as may. `details` carries the limit."""

    code = "file_proposals_full"


class NotYourFile(Refused):
    """An agent asked for a file of another agent, which nothing can allow."""

    code = "not_your_file"
