"""Earlier runs as they stood at a past time."""
