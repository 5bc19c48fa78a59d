"""What agent frameworks keep in forms of their own: histories, sessions, branches, and all of it together."""

from memoranda.client.call import Call, Id, given
from memoranda.conversations.branches.models import KeptBranch
from memoranda.conversations.histories.kept.models import KeptEntry, KeptHistory, ShownHistory
from memoranda.conversations.sessions.kept.models import (
    EventPage,
    KeptSession,
    KeptState,
    ShownSession,
)
from memoranda.kept.models import KeptCounts
from memoranda.words.page import Page
from memoranda.words.purged import RowsPurged


def get_kept_counts(*, user_id: Id | None = None) -> Call[KeptCounts]:
    """Get how much agent frameworks keep that you may see, by kind."""
    return Call("GET", "/v1/kept", KeptCounts, query=given(user_id=user_id))


def export_kept(*, user_id: Id | None = None) -> Call[str]:
    """Export all that agent frameworks keep that you may see, or of one user, as JSON Lines."""
    return Call("GET", "/v1/kept/export", str, query=given(user_id=user_id))


def list_histories(
    *,
    user_id: Id | None = None,
    scope: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[KeptHistory]]:
    """List histories, the newest first."""
    return Call(
        "GET",
        "/v1/histories",
        Page[KeptHistory],
        query=given(user_id=user_id, scope=scope, cursor=cursor, limit=limit),
    )


def get_history(history_id: Id) -> Call[ShownHistory]:
    """Get a history with its record, without what was said."""
    return Call("GET", "/v1/histories/{history_id}", ShownHistory, at={"history_id": history_id})


def list_history_entries(
    history_id: Id, *, cursor: str | None = None, limit: int = 100
) -> Call[Page[KeptEntry]]:
    """List what was said in a history, on all of its branches, in the order of its making."""
    return Call(
        "GET",
        "/v1/histories/{history_id}/entries",
        Page[KeptEntry],
        at={"history_id": history_id},
        query=given(cursor=cursor, limit=limit),
    )


def purge_history(history_id: Id) -> Call[RowsPurged]:
    """Delete a history for good, with the entries that no other one comes by."""
    return Call("DELETE", "/v1/histories/{history_id}", RowsPurged, at={"history_id": history_id})


def list_sessions(
    *,
    application: str | None = None,
    user_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[KeptSession]]:
    """List sessions, the newest first."""
    return Call(
        "GET",
        "/v1/sessions",
        Page[KeptSession],
        query=given(application=application, user_id=user_id, cursor=cursor, limit=limit),
    )


def get_session(session_id: Id) -> Call[ShownSession]:
    """Get a session with its own state, without its events."""
    return Call("GET", "/v1/sessions/{session_id}", ShownSession, at={"session_id": session_id})


def list_session_events(session_id: Id, *, after: int = 0, limit: int = 100) -> Call[EventPage]:
    """List the events of a session in their order."""
    return Call(
        "GET",
        "/v1/sessions/{session_id}/events",
        EventPage,
        at={"session_id": session_id},
        query=given(after=after, limit=limit),
    )


def purge_session(session_id: Id) -> Call[RowsPurged]:
    """Delete a session for good, with its events. What its person keeps across sessions stays."""
    return Call("DELETE", "/v1/sessions/{session_id}", RowsPurged, at={"session_id": session_id})


def list_session_states(
    *, user_id: Id | None = None, cursor: str | None = None, limit: int = 10
) -> Call[Page[KeptState]]:
    """List what outlives sessions: of applications' people, and of applications."""
    return Call(
        "GET",
        "/v1/sessions/states",
        Page[KeptState],
        query=given(user_id=user_id, cursor=cursor, limit=limit),
    )


def purge_session_state(application: str, *, person: str = "") -> Call[RowsPurged]:
    """Delete for good what a person, or an application, keeps across sessions."""
    return Call(
        "DELETE",
        "/v1/sessions/states",
        RowsPurged,
        query=given(application=application, person=person),
    )


def list_branches(
    *,
    workflow_id: str | None = None,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[KeptBranch]]:
    """List branches of conversations, the newest first. Each is a conversation of its own, of that id."""
    return Call(
        "GET",
        "/v1/branches",
        Page[KeptBranch],
        query=given(
            workflow_id=workflow_id,
            user_id=user_id,
            agent_id=agent_id,
            cursor=cursor,
            limit=limit,
        ),
    )


def purge_branch(
    workflow_id: str,
    name: str,
    *,
    generation: int = 1,
    agent_id: Id | None = None,
    user_id: Id | None = None,
) -> Call[RowsPurged]:
    """Delete a branch for good, with what was said on it alone. Its name stays given."""
    return Call(
        "DELETE",
        "/v1/branches",
        RowsPurged,
        query=given(
            workflow_id=workflow_id,
            name=name,
            generation=generation,
            agent_id=agent_id,
            user_id=user_id,
        ),
    )
