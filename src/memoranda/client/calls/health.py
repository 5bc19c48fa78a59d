"""Whether the server lives, and whether it can serve."""

from memoranda.client.answers import Health, Readiness
from memoranda.client.call import Call


def healthz() -> Call[Health]:
    """Say that the process lives."""
    return Call("GET", "/healthz", Health)


def readyz() -> Call[Readiness]:
    """Say that the database answers."""
    return Call("GET", "/readyz", Readiness)
