"""The rows of a conversation: held for a change, placed, taken away, and counted."""
