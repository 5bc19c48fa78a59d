"""What is kept so that agents can go back: how their conversations were when runs began and when branches were left."""
