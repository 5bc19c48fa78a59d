"""`memoranda embedder`: what is set, how far it is, and a curve to set."""

import json
from pathlib import Path

import pytest

from tests.search.embeddings_server import serving
from tests.surfaces.cli.terminal import Cli

BUNDLED = "all-MiniLM-L6-v2-int8"


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Pairs under a server whose vectors say nothing: what is relevant repeats the query."""
    pairs = []
    for number in range(30):
        query = f"question {number}"
        pairs.append({"query": query, "memory": query, "relevant": True})
        pairs.append({"query": query, "memory": f"answer {number}", "relevant": False})
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, pairs)), "utf-8")
    return path


def test_the_status_says_what_is_set_and_how_far_it_is(cli: Cli) -> None:
    cli.json("remember", "The oak mill is in Hexham.")
    before = cli.json("embedder", "status")
    assert before == {
        "embedder": "bundled",
        "model": BUNDLED,
        "serving": BUNDLED,
        "trouble": None,
        "made": 0,
        "waiting": 1,
        "given_up": 0,
    }
    ran = cli("embedder", "run")
    assert ran.code == 0
    assert ran.out == "1 memory can be found by meaning.\n"
    assert cli.json("embedder", "run") == {"made": 1, "waiting": 0, "given_up": 0}
    shown = cli("embedder", "status")
    assert "made      1" in shown.out


def test_what_was_remembered_without_an_embedder_is_made_up_for(
    local: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    local.json("remember", "The oak mill is in Hexham.")
    assert local.json("embedder", "status") == {
        "embedder": "none",
        "model": None,
        "serving": None,
        "trouble": None,
    }
    refused = local("embedder", "run", "--json")
    assert refused.code == 5
    assert "MEMORANDA_EMBEDDER" in refused.problem["detail"]
    monkeypatch.delenv("MEMORANDA_EMBEDDER")
    assert local.json("embedder", "run")["made"] == 1


def test_a_switch_to_an_endpoint_is_made_by_one_run(
    local: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.json("remember", "The oak mill is in Hexham.")
    local.json("embedder", "run")
    with serving() as server:
        monkeypatch.setenv("MEMORANDA_EMBEDDER", "endpoint")
        monkeypatch.setenv("MEMORANDA_EMBEDDER_URL", server.url)
        monkeypatch.setenv("MEMORANDA_EMBEDDER_MODEL", "other")
        assert local.json("embedder", "status")["serving"] == BUNDLED
        local.json("embedder", "run")
        assert local.json("embedder", "status")["serving"] == "other"


def test_what_could_not_be_made_is_told_by_the_exit_code(
    local: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        monkeypatch.setenv("MEMORANDA_EMBEDDER", "endpoint")
        monkeypatch.setenv("MEMORANDA_EMBEDDER_URL", server.url)
        monkeypatch.setenv("MEMORANDA_EMBEDDER_MODEL", "other")
        server.answers = [(400, {}, b"no")] * 9
        local.json("remember", "The oak mill is in Hexham.")
        ran = local("embedder", "run")
        assert ran.code == 10
        assert "1 could not be embedded yet" in ran.out


def test_a_fitted_curve_is_printed_as_the_settings_that_use_it(
    local: Cli, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        monkeypatch.setenv("MEMORANDA_EMBEDDER", "endpoint")
        monkeypatch.setenv("MEMORANDA_EMBEDDER_URL", server.url)
        monkeypatch.setenv("MEMORANDA_EMBEDDER_MODEL", "other")
        shown = local("embedder", "fit", str(labelled))
        assert shown.code == 0, shown.err
        settings = dict(line.split("=") for line in shown.out.splitlines()[:2])
        assert set(settings) == {"MEMORANDA_EMBEDDER_SLOPE", "MEMORANDA_EMBEDDER_MIDDLE"}
        fitted = local.json("embedder", "fit", str(labelled))
        assert fitted["fitted_to"] + fitted["checked_on"] == 60
        assert f"{fitted['slope']:.2f}" == settings["MEMORANDA_EMBEDDER_SLOPE"]
        assert [each["score"] for each in fitted["figures"]] == [0.55, 0.72]
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        assert local("embedder", "status").code == 0


def test_the_bundled_models_curve_can_be_looked_at_and_not_set(local: Cli) -> None:
    pairs = Path(__file__).parents[3] / "bench" / "data" / "memory_pairs.jsonl"
    shown = local("embedder", "fit", str(pairs))
    assert shown.code == 0, shown.err
    assert "MEMORANDA_EMBEDDER_SLOPE" not in shown.out
    assert "has its own curve" in shown.out


@pytest.mark.parametrize(
    ("lines", "code"), [(None, 3), ('{"query": "a"}', 5), ("", 5)], ids=["none", "bad", "empty"]
)
def test_a_file_that_can_not_be_fitted_to_is_refused(
    local: Cli, tmp_path: Path, lines: str | None, code: int
) -> None:
    path = tmp_path / "pairs.jsonl"
    if lines is not None:
        path.write_text(lines, "utf-8")
    assert local("embedder", "fit", str(path)).code == code
