"""Memories: durable facts in append-only chains, and who may know each of them."""
