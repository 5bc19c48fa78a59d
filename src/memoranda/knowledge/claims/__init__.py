"""Which worker takes which source in."""
