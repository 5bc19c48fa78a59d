"""Briefs: the block of text that an agent's run receives as its knowledge."""
