"""Who may do what: organizations, users, agents, the keys that open them, and the roles of keys."""
