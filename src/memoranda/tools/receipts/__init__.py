"""What calls that changed something were answered, so that the same call again changes nothing."""
