"""Embeds a batch so that one text that can't be embedded fails alone."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoranda.search.embedders.asking import ask, is_away
from memoranda.search.embedders.port import Embedder
from memoranda.words.errors import Unavailable

MOST_CALLS: Final = 24
"""Enough to find three bad texts among 64; more of them say that it is not the texts."""

Made = NDArray[np.float32] | None


class Parts(NamedTuple):
    """One row per text, None where there is none, and the last thing that went wrong."""

    rows: list[Made]
    failure: Unavailable | None


async def embed_in_parts(embedder: Embedder, texts: Sequence[str], *, within_s: float) -> Parts:
    """Embed texts together, and where that fails for what they say, in ever smaller parts."""
    made: list[Made] = [None] * len(texts)
    failure: Unavailable | None = None
    left = [(0, len(texts))]
    end = asyncio.get_running_loop().time() + within_s
    for _ in range(MOST_CALLS):
        if not left:
            break
        start, stop = left.pop()
        patience = max(0.0, end - asyncio.get_running_loop().time())
        try:
            rows = await ask(embedder, texts[start:stop], within_s=patience)
        except Unavailable as error:
            failure = error
            if is_away(error):
                break
            middle = (start + stop) // 2
            left += [(middle, stop), (start, middle)] if stop - start > 1 else []
        else:
            made[start:stop] = list(rows)
    return Parts(made, failure)
