"""What waits for a person, in one list, whichever part of the product it waits in."""
