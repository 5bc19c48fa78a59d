"""When something is due, and whose turn it is."""
