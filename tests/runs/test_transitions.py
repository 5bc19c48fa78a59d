"""Which change of a run is one that it may make."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from memoranda.runs.models import Run, RunResult, RunStatus
from memoranda.runs.result import LONGEST_ID, LONGEST_SUMMARY, MOST_REFS, result_input
from memoranda.runs.transitions import changed
from memoranda.words.errors import Conflict, Invalid, OverLimit
from memoranda.words.ids import new_id
from memoranda.words.ref import ResourceRef

THEN = datetime(2030, 1, 1, tzinfo=UTC)
NOW = THEN + timedelta(hours=1)
MAY = {
    ("running", "waiting"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("waiting", "running"),
    ("waiting", "failed"),
    ("waiting", "cancelled"),
}


def run(status: RunStatus = RunStatus.RUNNING, input: object = None) -> Run:
    return Run(
        id=new_id(),
        agent_id=None,
        user_id=None,
        trigger_id=None,
        parent_id=None,
        status=status,
        input=input,
        created_at=THEN,
        updated_at=THEN,
    )


@pytest.mark.parametrize(("before", "after"), list(product(RunStatus, RunStatus)))
def test_a_run_makes_the_changes_that_it_may_and_no_other(
    before: RunStatus, after: RunStatus
) -> None:
    if (before, after) in MAY:
        assert changed(run(before), after, NOW).status is after
        return
    with pytest.raises(Conflict) as refused:
        changed(run(before), after, NOW)
    assert refused.value.details["status"] == before
    assert before in refused.value.message


def test_a_stage_begins_with_each_wait_that_ends_and_with_nothing_else() -> None:
    one = changed(run(), RunStatus.WAITING, NOW, reason="Approval")
    assert (one.stage, one.waiting_reason, one.ended_at) == (0, "Approval", None)
    two = changed(one, RunStatus.RUNNING, NOW)
    assert (two.stage, two.waiting_reason, two.updated_at) == (1, None, NOW)
    three = changed(two, RunStatus.COMPLETED, NOW, result=RunResult(summary="Sent"))
    assert (three.stage, three.ended_at) == (1, NOW)


def test_the_reason_goes_where_it_belongs() -> None:
    failed = changed(run(RunStatus.WAITING), RunStatus.FAILED, NOW, reason="No answer")
    assert (failed.failure_reason, failed.waiting_reason) == ("No answer", None)


def test_the_entities_of_a_run_are_the_well_formed_refs_of_its_input_which_stays_as_it_is() -> None:
    given = {"goal": 1, "refs": [{"kind": "crm.deal", "id": "7"}, {"kind": "x"}, 3, {"id": "1"}]}
    made = run(input=given)
    assert made.entities == [ResourceRef(kind="crm.deal", id="7")]
    assert made.input == given
    for odd in (None, [], "refs", {"refs": "crm.deal"}, {"refs": None}, {}):
        assert run(input=odd).entities == []


def test_a_result_names_each_row_once_and_without_its_label() -> None:
    made = result_input(
        " Sent. ",
        [
            {"kind": "crm.deal", "id": "7", "label": "Big"},
            ResourceRef(kind="crm.deal", id="7", label="Other"),
            {"kind": "crm.person", "id": "8", "name": "Ada"},
        ],
    )
    assert made.summary == "Sent."
    assert [(ref.kind, ref.id, ref.label) for ref in made.refs] == [
        ("crm.deal", "7", None),
        ("crm.person", "8", None),
    ]


@pytest.mark.parametrize("broken", ["crm.deal:7", {"kind": "x"}, None, {"kind": "x", "id": 7}])
def test_a_ref_of_a_result_that_names_no_row_is_refused_at_its_place(broken: object) -> None:
    with pytest.raises(Invalid) as refused:
        result_input(None, [{"kind": "a", "id": "1"}, broken])  # type: ignore[list-item]  # what a caller may send
    assert refused.value.details["field"] == "refs.1"


def test_a_result_is_bounded() -> None:
    for summary, refs in (
        ("x" * (LONGEST_SUMMARY + 1), []),
        (None, [{"kind": "a", "id": "x" * (LONGEST_ID + 1)}]),
        (None, [{"kind": "a", "id": str(n)} for n in range(MOST_REFS + 1)]),
    ):
        with pytest.raises(OverLimit):
            result_input(summary, refs)
