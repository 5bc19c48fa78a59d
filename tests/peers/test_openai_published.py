"""The tests that the OpenAI Agents SDK publishes of its sessions, run unchanged against ours."""

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.peers.published.running import But, became, check

pytestmark = pytest.mark.slow

SESSIONS = ["tests/memory/test_session.py", "tests/memory/test_session_limit.py"]
BRANCHES = ["tests/extensions/memory/test_advanced_sqlite_session.py"]

BUT = [
    But(
        "test_create_branch_logging_respects_model_data_policy",
        "hands in a logger that it wants what people said in; ours logs none of it",
        "False",
    ),
    But(
        "test_generated_branch_ids_do_not_merge_within_the_same_second",
        "wants names made of its clock; ours are told apart by number",
    ),
    But(
        "test_failed_force_delete_keeps_current_branch",
        "can't keep a branch without items; ours is there from when it is made, and can be deleted",
    ),
    But(
        "test_clear_session_resets_current_branch_to_main",
        "counts rows through a connection of theirs",
    ),
]


@pytest.mark.parametrize(("files", "least"), [(SESSIONS, 50), (BRANCHES, 60)])
def test_their_tests_hold_for_ours(
    module_database_url: str, tmp_path: Path, files: list[str], least: int
) -> None:
    package = ("openai-agents", version("openai-agents"))
    found = became(package, files, "openai_sessions", module_database_url, tmp_path)
    check(found, BUT, least=least, files=files)
