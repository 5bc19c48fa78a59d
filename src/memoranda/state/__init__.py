"""Application state: rows of a host's own tables, read through declared projections."""
