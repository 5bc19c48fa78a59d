"""Which embedding model serves a scope's knowledge, and which is to serve it next."""
