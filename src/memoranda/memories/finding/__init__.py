"""Finding memories: search for people, and recall for runs."""
