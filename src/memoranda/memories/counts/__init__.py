"""How many memories and proposals an organization has: kept with every change, so that limits hold."""
