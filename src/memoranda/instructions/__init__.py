"""What a run is told before it begins: fourteen segments, each within its own budget."""
