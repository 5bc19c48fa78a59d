"""What an estimate of tokens is, and the one that everybody can foresee."""

from collections.abc import Callable
from typing import Literal, TypeAlias

EstimatorName: TypeAlias = Literal["bytes", "pieces"]
"""What a setting calls an estimator; `memoranda.words.estimators` has each by its name."""

Estimator = Callable[[str], int]
"""Text to tokens. It must be 0 for "" alone, joining two texts must not cost more than both, and a beginning not more than all."""


def estimate_tokens(text: str) -> int:
    """Return one token for each four bytes of UTF-8, rounded up; 0 for the empty text only."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (size + 3) // 4
