"""Which chain a write is about, held for that writer."""
