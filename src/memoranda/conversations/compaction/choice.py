"""Which summarizer there is, by the settings."""

from memoranda.conversations.compaction.extractive import Extractive
from memoranda.conversations.compaction.summarizer import Summarizer
from memoranda.settings import Settings
from memoranda.words.errors import Invalid
from memoranda.words.estimators import ESTIMATORS


def choose_summarizer(settings: Settings) -> Summarizer:
    """The summarizer that the settings name; a host's own is handed in instead.

    Raises `Invalid` for an endpoint that can't be used.
    """
    if settings.summarizer == "extractive":
        return Extractive(ESTIMATORS[settings.estimator])
    if not (settings.summarizer_url and settings.summarizer_model):
        raise Invalid(
            "MEMORANDA_SUMMARIZER: an endpoint needs MEMORANDA_SUMMARIZER_URL and "
            "MEMORANDA_SUMMARIZER_MODEL.",
            field="summarizer",
        )
    from memoranda.conversations.compaction.endpoint import EndpointSummarizer  # noqa: PLC0415 - its HTTP client takes a tenth of a second to load, which few have a use for

    return EndpointSummarizer(
        settings.summarizer_url,
        settings.summarizer_model,
        key=settings.summarizer_key,
        timeout_s=settings.summarizer_timeout_s,
    )
