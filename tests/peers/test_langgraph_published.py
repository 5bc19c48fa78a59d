"""The tests that LangGraph publishes of its stores and checkpointers in PostgreSQL, run unchanged against ours."""

from pathlib import Path

import pytest

from tests.peers.published.running import But, became, check

pytestmark = pytest.mark.slow

PACKAGE = ("langgraph-checkpoint-postgres", "3.2.0")

ITS_OWN = "calls a function within theirs, which makes their SQL"
ITS_INDEX = "reads an attribute of theirs: what ours finds by is the product's embedder"
BETWEEN = "runs something between two statements of theirs; ours prunes in one transaction"
BEFORE_4 = "a form of checkpoints that LangGraph no longer writes, so that no thread of ours has it"
SHALLOW = "another class, which keeps a thread's last checkpoint alone and that LangGraph gives up"

BUT = [
    But("test_escape_like_literal", ITS_OWN),
    But("test_namespace_match_pattern", ITS_OWN),
    But("test_get_checkpoint_no_channel_values", ITS_OWN),
    But("test_async_walk_reads_nothing_newer_than_the_target", ITS_OWN),
    But("test_sync_walk_reads_nothing_newer_than_the_target", ITS_OWN),
    But("test_abatch_uses_single_pool_checkout", "counts what theirs takes out of its pool"),
    But("test_vector_store_initialization", ITS_INDEX),
    But("test_scores", "asks its index in PostgreSQL for distances, and ours for cosines", "l2"),
    But(
        "test_omit_expired_disabled_preserves_expired_rows",
        "wants what has expired until a sweep of its own comes by, which LangGraph leaves to a store",
    ),
    But("test_combined_metadata", SHALLOW, "shallow"),
    But("test_search", SHALLOW, "shallow"),
    But("test_asearch", SHALLOW, "shallow"),
    But("test_null_chars", SHALLOW, "shallow"),
    But("test_pending_sends_migration", BEFORE_4),
    But("test_keep_latest_keeps_the_parent_holding_a_pre_v4_heads_sends", BEFORE_4),
    But("test_keep_latest_keeps_a_checkpoint_saved_while_it_runs", BETWEEN),
    But("test_keep_latest_refuses_a_thread_that_turns_delta_after_the_batch_check", BETWEEN),
    But(
        "test_keep_latest_keeps_the_history_of_a_delta_checkpoint_saved_after_the_thread_check",
        BETWEEN,
    ),
    But("test_keep_latest_keeps_a_checkpoint_saved_meanwhile_whatever_its_id", BETWEEN),
    But(
        "test_inline_primitive_seed_is_found",
        "wants None not to be found, which JSON in their column can't tell from nothing",
    ),
    But(
        "test_delta_channel_conformance",
        "asks the conformance suite for a capability that its published version does not know",
    ),
]


@pytest.mark.parametrize(
    ("files", "least"),
    [
        (["test_store"], 93),
        (["test_async_store"], 58),
        (["test_sync", "test_async"], 5),
        (["test_prune"], 18),
        (["test_delta_pagination", "test_delta_plain_value_seed", "test_conformance_delta"], 15),
    ],
)
def test_their_tests_hold_for_ours(
    module_database_url: str, tmp_path: Path, files: list[str], least: int
) -> None:
    paths = [f"tests/{name}.py" for name in files]
    found = became(PACKAGE, paths, "langgraph_postgres", module_database_url, tmp_path)
    check(found, BUT, least=least, files=files)
