"""Definitions: what an organization's agents, workflows and skills are for, and who may see that."""
