"""What files said before: how long it is kept, and how it is read."""
