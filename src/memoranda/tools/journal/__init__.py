"""A line for each call of a tool: ids, counts and codes, never what was said."""
