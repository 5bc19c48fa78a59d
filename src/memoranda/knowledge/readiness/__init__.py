"""Which documents are ready under which model."""
