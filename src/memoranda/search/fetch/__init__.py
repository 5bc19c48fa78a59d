"""The reading side of the inverted index."""
