"""Conversations: what was said, kept exactly and in order."""
