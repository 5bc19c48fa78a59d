"""One file for each form that memories come in: from what was parsed to entries, without any effect."""
