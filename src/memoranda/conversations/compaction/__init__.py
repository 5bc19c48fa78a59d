"""Compaction: earlier turns become a summary, and nothing that was said is lost."""
