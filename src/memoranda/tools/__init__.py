"""Tools: what a model may call, under which policy, and what came of each call."""
