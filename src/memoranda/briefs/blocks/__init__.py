"""Blocks: the text that each stage of a run was given, kept beside the run."""
