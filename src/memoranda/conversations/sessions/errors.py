"""What only sessions refuse."""

from memoranda.conversations.sessions.models import SessionName
from memoranda.words.errors import Conflict, NotFound


class SessionExists(Conflict):
    """The person has a session of that name in the application."""

    code = "session_exists"


class SessionWentOn(Conflict):
    """The session went on since it was read: read it again, then append."""

    code = "session_went_on"


def session_exists(name: SessionName) -> SessionExists:
    """The refusal of a second session of the same name."""
    return SessionExists(
        f"A session {name.name!r} is there already: go on with it, or give another id.",
        session=name.name,
    )


def session_went_on(name: SessionName, revision: int) -> SessionWentOn:
    """The refusal of an event for an earlier state of the session."""
    return SessionWentOn(
        f"The session {name.name!r} went on since it was read, and nothing was kept: read it again.",
        session=name.name,
        revision=revision,
    )


def unknown_session(name: SessionName) -> NotFound:
    """The refusal of a session that is not there, or not for this caller."""
    return NotFound(f"There is no session {name.name!r}.", session=name.name)
