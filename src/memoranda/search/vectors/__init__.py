"""Vectors of short texts: kept beside what they are of, and compared within one organization and one model."""
