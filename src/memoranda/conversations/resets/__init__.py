"""Resets of workflows and what is deleted for good: which generation goes on, and what late saves meet."""
