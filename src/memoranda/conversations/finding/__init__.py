"""Search over what was said: kept by words and by meaning, in segments that a worker reads."""
