"""A small company to look at: an application's own database, made for a demonstration."""
