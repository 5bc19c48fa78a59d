"""Branches of a conversation: what was said up to a turn, and goes on in another way."""
