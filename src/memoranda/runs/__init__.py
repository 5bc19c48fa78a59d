"""Runs of agents, what each logged, and what happened in an organization."""
