"""Vectors of chunks: kept beside what they are of, and compared within one scope and one model."""
