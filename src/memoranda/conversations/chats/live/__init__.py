"""What is told of a run while it goes on: its numbered events, and the state that they come to."""
