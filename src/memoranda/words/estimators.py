"""The estimators by the names under which a setting chooses one for the whole product."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from memoranda.words.pieces import estimate_pieces
from memoranda.words.tokens import Estimator, estimate_tokens

EstimatorName: TypeAlias = Literal["bytes", "pieces"]

ESTIMATORS: Final[Mapping[EstimatorName, Estimator]] = {
    "bytes": estimate_tokens,
    "pieces": estimate_pieces,
}
