"""The readers of a brief, one file per source; each filters by the subject alone."""
