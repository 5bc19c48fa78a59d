"""How often runs have called tools."""
