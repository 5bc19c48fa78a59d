"""Approvals: calls that wait for a person, who lets them be done or not."""
