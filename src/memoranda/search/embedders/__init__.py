"""Embedders: what turns texts into vectors, one that comes with the product and one at any endpoint."""
