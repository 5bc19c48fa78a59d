"""What the calls of conversations used and cost, added up for good."""
