"""Agent frameworks, given what they need of Memoranda; each in a room of its own, with an extra of its name."""
