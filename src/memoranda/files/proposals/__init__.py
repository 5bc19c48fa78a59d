"""Changes of files that wait for a person."""
