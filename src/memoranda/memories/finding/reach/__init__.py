"""How far a reader's eye reaches: which of an organization's memories it may know."""
