"""Resets of workflows, and what is deleted for good."""
