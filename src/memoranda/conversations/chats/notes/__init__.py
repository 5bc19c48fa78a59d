"""Notes: what happened between two turns, told ahead of what the user says next."""
