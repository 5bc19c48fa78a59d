"""A chat written down: all of its branches, its runs, what is thought of answers, and notes."""
