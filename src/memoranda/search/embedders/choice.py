"""Which embedders there are, by the settings: the one to use, and those that older vectors may need."""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memoranda.search.calibration import Calibration
from memoranda.search.embedders.bundled import MODEL, find_bundled
from memoranda.search.embedders.port import Embedder
from memoranda.settings import Settings
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.search.embedders.endpoint import Endpoint

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Embedders:
    """The embedder to use, and others at hand: until a switch of models is done, one of those still serves."""

    live: Embedder
    others: tuple[Embedder, ...] = ()
    endpoint: "Endpoint | None" = field(default=None, repr=False)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that there is an embedder of, the one to use first."""
        return (self.live.model, *(other.model for other in self.others))

    def of(self, model: str) -> Embedder | None:
        """Return the embedder of a model; None where it is not at hand."""
        return next((each for each in (self.live, *self.others) if each.model == model), None)

    async def close(self) -> None:
        """Let go of connections; nothing can be embedded after this."""
        if self.endpoint is not None:
            await self.endpoint.close()


def choose(settings: Settings) -> Embedders | None:
    """Return the embedders that the settings name; None where there is none.

    An endpoint that is set but not chosen stays at hand, and so does the bundled model: vectors that
    they made can be searched until those of the chosen one are made. Raises `Invalid` for an
    endpoint that can't be used.
    """
    if settings.embedder == "none":
        return None
    _check(settings)
    endpoint, bundled = _endpoint(settings), find_bundled()
    live: Embedder | None = bundled if settings.embedder == "bundled" else endpoint
    if live is None:
        logger.warning(
            "Words alone find memories and documents: the bundled model is not installed."
        )
        return None
    at_hand = (bundled, endpoint)
    others = tuple(each for each in at_hand if each is not None and each is not live)
    return Embedders(live, others, endpoint)


def _check(settings: Settings) -> None:
    named = settings.embedder_url and settings.embedder_model
    if settings.embedder == "endpoint" and not named:
        raise Invalid(
            "MEMORANDA_EMBEDDER: an endpoint needs MEMORANDA_EMBEDDER_URL and "
            "MEMORANDA_EMBEDDER_MODEL.",
            field="embedder",
        )
    if (settings.embedder_slope is None) != (settings.embedder_middle is None):
        raise Invalid(
            "MEMORANDA_EMBEDDER_SLOPE and MEMORANDA_EMBEDDER_MIDDLE are one curve: set both or none.",
            field="embedder_slope",
        )


def _endpoint(settings: Settings) -> "Endpoint | None":
    if not (settings.embedder_url and settings.embedder_model):
        return None
    from memoranda.search.embedders.endpoint import Endpoint  # noqa: PLC0415 - its HTTP client takes a while to load

    name, size = settings.embedder_model.strip(), settings.embedder_dimensions
    if name == MODEL:
        raise Invalid(
            f"MEMORANDA_EMBEDDER_MODEL: {MODEL} is the bundled model's name. An endpoint's model "
            "needs another, so that their vectors are never compared.",
            field="embedder_model",
        )
    curve = None
    if settings.embedder_slope is not None and settings.embedder_middle is not None:
        curve = Calibration(settings.embedder_slope, settings.embedder_middle)
    return Endpoint(
        settings.embedder_url,
        name,
        key=settings.embedder_key,
        # Vectors of another size are another model's.
        known_as=f"{name}@{size}" if size else name,
        dimensions=size,
        calibration=curve,
    )
