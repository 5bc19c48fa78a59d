"""Spaces: the nodes of workflows that call tools, each with memories that are its own."""
