"""The work of making vectors, shared by any number of workers."""
