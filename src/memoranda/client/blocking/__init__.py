"""The client that answers when the answer is there."""
