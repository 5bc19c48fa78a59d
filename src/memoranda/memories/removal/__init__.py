"""What takes memories away: all at once, or one for good and with every trace."""
