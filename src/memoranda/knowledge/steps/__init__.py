"""Chunks and index rows of one source, written and cleared in steps that hold nobody up."""
