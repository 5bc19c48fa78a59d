"""The estimators by the names under which a setting chooses one for the whole product."""

from collections.abc import Mapping
from typing import Final

from memoranda.words.pieces import estimate_pieces
from memoranda.words.tokens import Estimator, EstimatorName, estimate_tokens

__all__ = ["ESTIMATORS", "EstimatorName"]

ESTIMATORS: Final[Mapping[EstimatorName, Estimator]] = {
    "bytes": estimate_tokens,
    "pieces": estimate_pieces,
}
