"""Vectors of documents: made while a document is taken in, and beside the serving ones when the model is switched."""
