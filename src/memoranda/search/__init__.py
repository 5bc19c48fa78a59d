"""Search: text to terms, an inverted index in ordinary tables, and one pure ranking for both databases."""
