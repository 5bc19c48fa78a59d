"""The one estimate of how many tokens a text costs."""

from collections.abc import Callable

Estimator = Callable[[str], int]
"""Text to tokens. It must be 0 for "" alone, and joining two texts must not cost more than both."""


def estimate_tokens(text: str) -> int:
    """Return one token for each four bytes of UTF-8, rounded up; 0 for the empty text only."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (size + 3) // 4
