"""Feedback: what a user thinks of an answer."""
