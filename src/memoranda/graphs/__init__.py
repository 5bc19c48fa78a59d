"""What the graphs of a host keep between and beyond their runs."""
