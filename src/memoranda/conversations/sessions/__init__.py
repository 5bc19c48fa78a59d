"""Sessions of agent frameworks: their events in order, and state in three scopes."""
