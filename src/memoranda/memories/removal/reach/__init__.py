"""How far a removal reaches."""
