"""Keeps memories findable by meaning: their vectors are made in the background."""
