"""Whose conversations a search goes over, and how what it found is shown."""
