"""Finds credentials in a text before it is kept."""
