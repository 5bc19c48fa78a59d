"""How many memories there are, for those who may know."""
