"""Tool policies: what an agent may do with a tool at once, only with a person, or not at all."""
