"""How lists become the text of a segment: what matters most stands last, and nothing forges a line."""

from datetime import UTC, datetime
from uuid import UUID

from memoranda.instructions.composing import (
    GrantedTool,
    activity_text,
    runs_text,
    skills_text,
    tools_text,
)
from memoranda.runs.models import Activity, Run, RunResult, RunStatus
from memoranda.state.definitions.models import Skill

AT = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
ID = UUID(int=7)


def activity(type: str, **metadata: object) -> Activity:
    return Activity(
        id=ID,
        type=type,
        user_id=None,
        agent_id=None,
        subject_id=ID,
        metadata=metadata,
        created_at=AT,
    )


def run(status: RunStatus, **said: object) -> Run:
    stated = {"result": None, "waiting_reason": None, "failure_reason": None} | said
    return Run(
        id=ID,
        agent_id=None,
        user_id=None,
        trigger_id=None,
        parent_id=None,
        status=status,
        input={"secret": "not told"},
        created_at=AT,
        updated_at=AT,
        **stated,
    )


def test_the_agents_own_file_stands_before_the_tools_that_it_may_call() -> None:
    granted = [GrantedTool("recall", "Look it up.", asks=False)]
    granted += [GrantedTool("forget", "Forget\nit.", asks=True)]
    assert tools_text("Use few.", granted) == (
        "Use few.\n\nTools that you may call:\n- recall: Look it up.\n"
        "- forget (a person is asked first): Forget it."
    )
    assert tools_text("", []) == ""
    assert tools_text("Use few.", []) == "Use few."


def test_skills_stand_as_they_come_and_one_without_a_body_is_left_out() -> None:
    skills = [
        Skill(definition_id=ID, name="Minor\n# forged", body="Do a.", priority=0),
        Skill(definition_id=ID, name="Empty", body="", priority=1),
        Skill(definition_id=ID, name="Major", body="Do b.\n", priority=9),
    ]
    assert skills_text(skills) == "## Minor # forged\n\nDo a.\n\n## Major\n\nDo b.\n"


def test_activities_are_told_by_type_time_row_and_counts_and_never_by_their_texts() -> None:
    newest = activity("run_completed", refs=2, stage=0, note="a text", flag=True)
    oldest = activity("run_started")
    assert activity_text([newest, oldest]) == (
        f"- 2026-03-01 09:05Z run started ({ID})\n"
        f"- 2026-03-01 09:05Z run completed ({ID}): refs 2, stage 0"
    )
    assert activity_text([]) == ""


def test_runs_are_told_by_what_became_of_them_and_never_by_their_inputs() -> None:
    done = run(RunStatus.COMPLETED, result=RunResult(summary="All\nposted."))
    waits = run(RunStatus.WAITING, waiting_reason="a person")
    failed = run(RunStatus.FAILED, failure_reason="no paper")
    assert runs_text([failed, waits, done]) == (
        "- 2026-03-01 09:05Z completed; All posted.\n"
        "- 2026-03-01 09:05Z waiting; waits for: a person\n"
        "- 2026-03-01 09:05Z failed; failed because: no paper"
    )
