"""How much a file may hold that somebody hands in."""

from typing import Final

MEGABYTE: Final = 1024 * 1024
MOST_BYTES: Final = 100 * MEGABYTE
"""Bytes of a file, and of all that is read out of an archive."""
MOST_LINE_CHARS: Final = MEGABYTE
"""Characters of one line of JSON Lines."""
MOST_ENTRIES: Final = 200_000
"""Memories in one file."""
MOST_MEMBERS: Final = 200
"""Files that are read out of one archive."""
MOST_PIECES: Final = 40
"""Memories that one long text becomes; what is longer is a document."""
MOST_EXAMPLES: Final = 20
"""Examples that a report keeps of each outcome."""
MOST_ALIKE: Final = 5
"""Examples that a report keeps of one reason."""
BATCH: Final = 100
"""Memories that are taken in with one transaction."""
PAGE: Final = 200
"""Memories that are taken out with one transaction."""
MOST_REVISIONS: Final = 500
"""Revisions that are taken out with one transaction."""
