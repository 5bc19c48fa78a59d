"""Which skills an agent is bound to."""
