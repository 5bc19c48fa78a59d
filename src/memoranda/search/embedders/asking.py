"""Asks an embedder as one asks a stranger: not for ever, and believing no shape that was not checked."""

import asyncio
from collections.abc import Sequence
from typing import Final

import numpy as np

from memoranda.search.embedders.port import Embedder, Matrix
from memoranda.words.errors import MemorandaError, Unavailable

PATIENCE_S: Final = 60.0
"""How long one call may take, its tries and pauses included."""
AWAY: Final = frozenset({401, 404, 408, 425, 429, 502, 503, 504})
"""What an endpoint answers whatever the text is. A firewall's 403 or a 500 may be about the text."""

_LONGEST: Final = 1.01


async def ask(embedder: Embedder, texts: Sequence[str], *, within_s: float = PATIENCE_S) -> Matrix:
    """Return one row per text, none longer than 1. Raises `Unavailable`, whatever went wrong."""
    try:
        async with asyncio.timeout(within_s):
            rows = np.asarray(await embedder.embed(texts), np.float32)
    except MemorandaError as error:
        raise Unavailable(error.message, **error.details) from error
    except TimeoutError:
        said = f"The embedder did not answer within {within_s:g} seconds."
        raise Unavailable(said, reason="TimeoutError") from None
    except Exception as error:
        # The type alone: a foreign error's message may quote the texts.
        raise Unavailable(f"The embedder failed ({type(error).__name__}).") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
        raise Unavailable("The embedder answered with another number of vectors than of texts.")
    # Written so that what is no number fails too.
    if not (np.linalg.norm(rows, axis=1) <= _LONGEST).all():
        raise Unavailable("The embedder answered with vectors that are not of length 1.")
    return rows


def is_away(failure: Unavailable) -> bool:
    """Whether the embedder would have failed with any other text too: only then may others do without it.

    Away is what can't be reached, does not answer in time, or says so; all else may be about the text.
    """
    return "reason" in failure.details or failure.details.get("status") in AWAY
