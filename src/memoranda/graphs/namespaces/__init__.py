"""Namespaces of graphs as people see them: which there are, what each holds, and their end."""
