"""Answers as they came in, piece by piece: whole ones, and those that broke off, as far as they went."""
