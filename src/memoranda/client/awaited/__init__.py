"""The client whose answers are awaited."""
