"""Word search over many short texts: rows that writers never wait for, and a relevance in [0, 1]."""
