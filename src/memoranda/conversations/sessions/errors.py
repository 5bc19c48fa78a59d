"""What only sessions refuse."""

from memoranda.conversations.errors import ConversationTooLarge
from memoranda.conversations.sessions.models import SessionName
from memoranda.words.errors import Conflict, Invalid, NotFound, Refused


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


def session_too_large(what: str, size: int, limit: int) -> ConversationTooLarge:
    """The refusal of that many bytes of a session or a state."""
    return ConversationTooLarge(
        f"The {what} would have {size} bytes and may have {limit}: keep less in it, or begin another session.",
        bytes=size,
        limit=limit,
    )


def no_json() -> Invalid:
    """The refusal of state that can't be written as JSON."""
    return Invalid(
        "The state is no JSON: use objects, lists, texts, numbers of up to 4,300 digits, true, false and null.",
        field="state",
    )


def nobody_yet(person: str) -> Refused:
    """The refusal to make a user of a person whom the caller does not know."""
    return Refused(
        f"{person!r} is no user that this key knows of, and it may not make users: name the key's own "
        "user, or use an owner's key.",
        person=person,
    )


def unknown_session(name: SessionName) -> NotFound:
    """The refusal of a session that is not there, or not for this caller."""
    return NotFound(f"There is no session {name.name!r}.", session=name.name)
