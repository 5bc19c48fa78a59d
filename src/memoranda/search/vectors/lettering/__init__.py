"""Beside each vector, what its text can't hold."""
