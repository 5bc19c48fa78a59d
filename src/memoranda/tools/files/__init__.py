"""The tools that read and write context files."""
