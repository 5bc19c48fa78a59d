"""When a stage of a run is given a new block, and how much of the block before it stays."""

from datetime import UTC, datetime
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.briefs.blocks.reuse import builds, stable_prefix
from memoranda.runs.models import Run, RunStatus
from memoranda.words.ids import new_id

THEN = datetime(2030, 1, 1, tzinfo=UTC)


def run(stage: int = 0, status: str = "running") -> Run:
    return Run(
        id=new_id(),
        agent_id=None,
        user_id=None,
        trigger_id=None,
        parent_id=None,
        status=RunStatus(status),
        stage=stage,
        input=None,
        created_at=THEN,
        updated_at=THEN,
    )


def asked(
    made: Run,
    kept: int | None,
    *,
    stage: int | None = None,
    refresh: bool | None = None,
    on_resume: bool = True,
) -> bool:
    at = made.stage if stage is None else stage
    return builds(made, at, kept, refresh=refresh, refresh_on_resume=on_resume)


def test_the_first_stage_builds_once() -> None:
    assert asked(run(), None)
    assert not asked(run(), 0)


def test_a_later_stage_builds_where_the_policy_wishes_it_and_once() -> None:
    assert asked(run(1), 0)
    assert not asked(run(1), 1)
    assert not asked(run(1), 0, on_resume=False)
    assert asked(run(3), 1)


def test_what_is_over_builds_nothing_whatever_is_wished() -> None:
    for made, stage in ((run(2), 1), (run(0, "completed"), 0), (run(0, "cancelled"), 0)):
        for kept in (None, 0):
            for refresh in (None, True):
                assert not asked(made, kept, stage=stage, refresh=refresh)


@pytest.mark.parametrize("status", ["running", "failed"])
def test_a_stage_that_failed_may_be_built_another(status: str) -> None:
    assert asked(run(0, status), 0, refresh=True)
    assert asked(run(0, status), None)
    assert not asked(run(0, status), 0)


def test_whoever_wants_no_new_block_is_given_the_old_one_and_a_first_where_there_is_none() -> None:
    assert not asked(run(1), 0, refresh=False)
    assert asked(run(1), None, refresh=False)


@given(st.text(), st.text(), st.text())
def test_the_stable_prefix_is_what_both_texts_begin_with(same: str, one: str, two: str) -> None:
    before, text = same + one, same + two
    pairs = zip(before.encode(), text.encode(), strict=False)
    assert stable_prefix(before, text) == len(
        list(takewhile(lambda pair: len({*pair}) == 1, pairs))
    )
