"""Memories taken out as JSON Lines, and taken in from there and from what other products give out."""
