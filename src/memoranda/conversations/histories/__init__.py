"""Histories that branch, as agent frameworks keep them: entries that each are stored once."""
