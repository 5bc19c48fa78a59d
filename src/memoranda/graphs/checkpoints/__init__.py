"""Checkpoints of threads, and what tasks wrote on the way to the next one."""
