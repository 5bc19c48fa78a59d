"""What runs would have been told of memories at a past time, as long as all of it is there."""
