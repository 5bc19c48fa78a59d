"""What people and programs meet: thin, and with no rule of its own."""
