"""Messages in one form for every provider, and the way into and out of each provider's own. Pure."""
