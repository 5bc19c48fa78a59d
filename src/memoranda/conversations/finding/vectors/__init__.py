"""Vectors of what was said: kept with their segments, and compared within one scope and one model."""
