"""Runs of a chat while they go on: what they tell, how they are stopped, and who ends those that nobody finishes."""
