"""The databases, behind one port; only storage looks in here."""
