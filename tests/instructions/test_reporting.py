"""What a report tells of measurements: the very numbers, exact ranges, and whether a run agrees."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.instructions.cutting import cut_middle
from memoranda.instructions.measuring import Inputs, Piece, measure_segment, measure_segments
from memoranda.instructions.models import ContextLoad, LoadedFile
from memoranda.instructions.reporting import (
    agreement,
    load_of,
    preview,
    segment_report,
    skipped_range,
    within_file,
)
from memoranda.instructions.segments import SegmentName
from memoranda.words.estimators import ESTIMATORS, EstimatorName
from memoranda.words.tokens import estimate_tokens

N = SegmentName
TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.lists(
        st.sampled_from(["line\n", "слово ", "👩‍👩‍👧", "\r\n", "<|im_end|>"]), max_size=600
    ).map("".join),
)


def load(
    inputs: Inputs, estimator: EstimatorName = "bytes", files: list[LoadedFile] | None = None
) -> ContextLoad:
    return load_of(
        measure_segments(inputs, ESTIMATORS[estimator]),
        estimator=estimator,
        skills_cap=inputs.skills_cap,
        files=files or [],
        facts="found",
    )


def file(name: str, hash: str, *, of_agent: bool = True) -> LoadedFile:
    return LoadedFile(name=name, of_agent=of_agent, revision=1, hash=hash)


@given(TEXT, st.integers(0, 60))
def test_lines_and_characters_of_what_is_skipped_are_exact(text: str, cap: int) -> None:
    skipped = skipped_range(cut := cut_middle(text, cap, estimate_tokens))
    if skipped is None:
        assert cut.text == text
        return
    assert text[: skipped.start] + text[skipped.start : skipped.end] + text[skipped.end :] == text
    lines = [
        number
        for number, begins in enumerate(
            [0, *(at + 1 for at, char in enumerate(text) if char == "\n")], start=1
        )
        if begins < skipped.end
        and (text.find("\n", begins) if "\n" in text[begins:] else len(text)) >= skipped.start
    ]
    assert (skipped.first_line, skipped.last_line) == (lines[0], lines[-1])


@given(TEXT, st.integers(0, 60))
def test_the_stretches_of_a_preview_are_the_file_in_order(text: str, cap: int) -> None:
    skipped = skipped_range(cut_middle(text, cap, estimate_tokens))
    stretches = preview(text, skipped)
    assert "".join(text[each.start : each.end] for each in stretches) == text
    assert [each.start for each in stretches] == sorted(each.start for each in stretches)
    assert sum(each.kind == "skipped" for each in stretches) == (skipped is not None)


@given(TEXT, TEXT, st.sampled_from(sorted(ESTIMATORS)))
def test_what_a_run_records_is_what_a_report_tells(one: str, two: str, estimator: str) -> None:
    def inputs() -> Inputs:
        return Inputs(
            {N.IDENTITY: one, N.RECENT_RUNS: two, N.SKILLS: two},
            [Piece("voice", two), Piece("people", one)],
            [line for line in two.split("\n") if line],
        )

    recorded, told = load(inputs(), estimator), load(inputs(), estimator)
    assert recorded == told
    assert ContextLoad.model_validate_json(recorded.model_dump_json()) == told
    alone = measure_segment(N.IDENTITY, Inputs({N.IDENTITY: one}), ESTIMATORS[estimator])
    assert segment_report(alone) == told.segments[0]


def test_files_that_share_a_segment_each_have_their_own_range() -> None:
    pieces = [Piece("voice", "a" * 8_000), Piece("people", "b" * 8_000)]
    told = load(Inputs(workspace=pieces)).segments[5]
    assert told.skipped is None
    assert [each.name for each in told.files] == ["voice", "people"]
    assert sum(each.skipped_chars for each in told.files) == told.skipped_chars
    assert all(each.skipped and each.state == "over" for each in told.files)


def test_a_range_is_cut_to_the_file_with_which_a_text_begins() -> None:
    text = "one\ntwo\nthree\nfour"
    whole = skipped_range(cut_middle("x" * 100, 0, estimate_tokens))
    within = within_file(whole, text)
    assert within is not None
    assert (within.start, within.end, within.last_line) == (0, len(text), 4)
    assert within_file(None, text) is None


def test_a_last_run_agrees_in_what_is_saved_and_says_nothing_of_the_rest() -> None:
    said = {N.IDENTITY: "Calm.", N.RECENT_RUNS: "- one", N.SCOPE_CONTEXT: "x"}
    then = load(Inputs(said), files=[file("SOUL.md", "a"), file("voice", "a", of_agent=False)])
    now = load(
        Inputs({**said, N.RECENT_RUNS: "- one\n- two"}),
        files=[file("SOUL.md", "a"), file("voice", "a", of_agent=False)],
    )
    told = {each.name: each.agrees for each in agreement(then, now)}
    assert told[N.IDENTITY] is True
    assert told[N.RECENT_RUNS] is told[N.SCOPE_CONTEXT] is told[N.MEMORY_FACTS] is None


def test_a_file_that_changed_differs_even_where_it_costs_the_same() -> None:
    then = load(Inputs({N.ROLE: "abcd"}), files=[file("AGENTS.md", "a")])
    now = load(Inputs({N.ROLE: "dcba"}), files=[file("AGENTS.md", "b")])
    told = {each.name: each for each in agreement(then, now)}
    assert (told[N.ROLE].agrees, told[N.ROLE].changed_files) == (False, ["AGENTS.md"])
    assert told[N.IDENTITY].agrees is True


def test_a_file_that_is_loaded_no_more_is_a_change_of_what_is_shared() -> None:
    then = load(
        Inputs(workspace=[Piece("voice", "Short.")]), files=[file("voice", "a", of_agent=False)]
    )
    told = {each.name: each for each in agreement(then, load(Inputs()))}
    shared = told[N.WORKSPACE_CONTEXT]
    assert (shared.agrees, shared.changed_files) == (False, ["voice"])
