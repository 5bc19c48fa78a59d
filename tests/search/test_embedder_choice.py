"""The settings choose the embedder, and what is set beside it stays at hand."""

import logging

import pytest

from memoranda.search.calibration import DEFAULT, Calibration
from memoranda.search.embedders import choice
from memoranda.search.embedders.bundled import MODEL, Bundled
from memoranda.search.embedders.choice import choose
from memoranda.search.embedders.endpoint import Endpoint
from memoranda.settings import Settings
from memoranda.words.errors import Invalid
from tests.search.embeddings_server import DIMENSIONS, serving

SERVER = {"embedder_url": "http://127.0.0.1:9/v1", "embedder_model": "other"}


def chosen(**given: object) -> choice.Embedders:
    found = choose(Settings.load(**given))
    assert found is not None
    return found


def test_the_bundled_model_is_the_default_and_needs_no_setting() -> None:
    found = chosen()
    assert isinstance(found.live, Bundled)
    assert found.models == (MODEL,)
    assert found.of("other") is None


def test_there_may_be_none() -> None:
    assert choose(Settings.load(embedder="none", **SERVER)) is None


async def test_an_endpoint_keeps_the_bundled_model_at_hand() -> None:
    found = chosen(embedder="endpoint", **SERVER)
    assert isinstance(found.live, Endpoint)
    assert found.models == ("other", MODEL)
    assert isinstance(found.of(MODEL), Bundled)
    await found.close()


async def test_the_bundled_model_keeps_an_endpoint_that_is_still_set_at_hand() -> None:
    found = chosen(**SERVER)
    assert found.models == (MODEL, "other")
    await found.close()


async def test_the_curve_is_the_endpoints_and_never_the_bundled_models() -> None:
    curve = {"embedder_slope": 20.0, "embedder_middle": 0.7}
    found = chosen(embedder="endpoint", **SERVER, **curve)
    assert found.live.calibration == Calibration(20.0, 0.7)
    assert found.of(MODEL).calibration != Calibration(20.0, 0.7)
    await found.close()
    plain = chosen(embedder="endpoint", **SERVER)
    assert plain.live.calibration == DEFAULT
    await plain.close()


async def test_another_size_is_another_model_and_is_checked() -> None:
    with serving() as server:
        at = {"embedder_url": server.url, "embedder_model": "other", "embedder": "endpoint"}
        sized = chosen(**at, embedder_dimensions=DIMENSIONS)
        assert sized.live.model == f"other@{DIMENSIONS}"
        assert (await sized.live.embed(["a"])).shape == (1, DIMENSIONS)
        assert server.asked[-1]["model"] == "other"
        await sized.close()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"embedder": "endpoint"}, "MEMORANDA_EMBEDDER_URL"),
        ({"embedder": "endpoint", "embedder_url": "http://x/v1"}, "MEMORANDA_EMBEDDER_MODEL"),
        ({"embedder": "endpoint", **SERVER, "embedder_url": "ftp://x"}, "http://"),
        ({"embedder_slope": 9.0}, "MEMORANDA_EMBEDDER_MIDDLE"),
        ({"embedder_middle": 0.5}, "MEMORANDA_EMBEDDER_SLOPE"),
        ({**SERVER, "embedder_model": MODEL}, "bundled"),
        ({**SERVER, "embedder_model": f" {MODEL} "}, "bundled"),
    ],
)
def test_what_can_not_be_used_is_refused_by_its_name(given: dict[str, object], named: str) -> None:
    with pytest.raises(Invalid, match=named):
        choose(Settings.load(**given))


def test_a_key_is_in_no_setting_that_is_shown() -> None:
    assert "hunter2" not in repr(Settings.load(embedder_key="hunter2", **SERVER))


def test_without_the_bundled_models_package_words_do_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(choice, "find_bundled", lambda: None)
    with caplog.at_level(logging.WARNING):
        assert choose(Settings.load()) is None
    assert len(caplog.records) == 1
