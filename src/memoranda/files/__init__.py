"""Context files: what people write for every run to know, and the notes that agents keep."""
