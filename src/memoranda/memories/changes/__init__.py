"""What a change of a chain writes, and everything that follows from it in the same transaction."""
