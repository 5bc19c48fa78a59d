"""Work that nobody waits for: what was added is taken in by whichever worker is free."""
