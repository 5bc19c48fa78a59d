"""Knowledge: documents read, cut into chunks, indexed, searched and cited."""
