"""Generations of workflows, and the fences of keys: what a late save meets."""
