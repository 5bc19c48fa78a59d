"""Whose items and checkpoints are kept together."""
