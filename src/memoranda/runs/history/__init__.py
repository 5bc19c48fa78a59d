"""Runs looked back at: those of the same user or trigger, and those about the same rows."""
