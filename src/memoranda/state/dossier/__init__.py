"""The dossier: what an organization says of itself, told to runs in the words that people read."""
