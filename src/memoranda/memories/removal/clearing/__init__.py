"""Forgetting everything at once."""
