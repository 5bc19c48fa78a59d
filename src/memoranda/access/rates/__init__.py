"""How often somebody may ask for the same kind of thing."""
