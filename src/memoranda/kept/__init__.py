"""What agent frameworks keep here in forms of their own, all together."""
