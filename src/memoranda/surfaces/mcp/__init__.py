"""The Model Context Protocol: the tools and memories of a caller, for any client that speaks it."""
