"""What the packer keeps, drops and charges."""

from itertools import pairwise

import pytest

from memoranda.briefs.models import CLASS_ORDER, ContextBrief, ContextItem, ContextKind
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.page import write_heading
from memoranda.words.ref import ResourceRef
from memoranda.words.subject_key import make_subject_key
from memoranda.words.tokens import estimate_tokens
from tests.briefs.offers import a_policy, a_ref, an_item, outcomes

PACKER = ContextPacker()
COMPANY = a_ref("8f21", "crm.company")


def pack(items: list[ContextItem], *names: str, **budgets: int) -> ContextBrief:
    policy = a_policy(*(names or dict.fromkeys(item.source for item in items)), **budgets)
    return PACKER.pack(items, policy, explain=True)


def heading(kind: ContextKind) -> int:
    return estimate_tokens(write_heading(kind))


def test_a_brief_reads_like_this() -> None:
    items = [
        an_item("memory", "Prefers short answers.", title="Style", ref=a_ref("m1", "memory")),
        an_item("conversation", "Hello\nthere.", title="user"),
    ]
    brief = PACKER.pack(items, a_policy("memory", "conversation"), ["knowledge"])
    assert brief.text == (
        "Unavailable sources: knowledge. What they hold is missing from this brief.\n"
        "\n"
        "## Conversation\n"
        "- user: Hello there.\n"
        "\n"
        "## Memory\n"
        "- [memory:m1] Style: Prefers short answers."
    )
    assert brief.items == [a_ref("m1", "memory")]
    assert brief.explain is None


def test_nothing_offered_gives_an_empty_brief() -> None:
    brief = pack([])
    assert (brief.text, brief.tokens, brief.items) == ("", 0, [])
    assert (brief.per_source_tokens, brief.dropped, brief.explain) == ({}, {}, [])


def test_the_sections_stand_in_class_order() -> None:
    brief = pack([an_item(kind) for kind in reversed(CLASS_ORDER)])
    places = [brief.text.index(write_heading(kind).strip()) for kind in CLASS_ORDER]
    assert places == sorted(places)
    assert len(CLASS_ORDER) == 10


@pytest.mark.parametrize(("higher", "lower"), list(pairwise(CLASS_ORDER)))
def test_a_higher_class_beats_a_lower_one_under_one_complete_key(
    higher: ContextKind, lower: ContextKind
) -> None:
    key = make_subject_key(COMPANY, "lifecycle_stage")
    items = [
        an_item(lower, title="low", subject_key=key),
        an_item(higher, title="high", subject_key=key, ref=COMPANY),
    ]
    brief = pack(items)
    assert outcomes(brief) == {"high": "kept", "low": "lost_subject_key"}
    assert brief.dropped == {higher: 0, lower: 1}
    loser = next(entry for entry in brief.explain or [] if entry.title == "low")
    assert loser.lost_to is not None
    assert (loser.lost_to.source, loser.lost_to.title) == (higher, "high")
    assert loser.lost_to.ref == COMPANY


def test_two_items_of_one_class_with_one_key_keep_the_first() -> None:
    items = [an_item("memory", title=title, subject_key="a:1:x") for title in ("one", "two")]
    brief = pack(items)
    assert outcomes(brief) == {"one": "kept", "two": "lost_subject_key"}
    assert brief.dropped == {"memory": 1}


def test_items_without_a_key_or_with_other_keys_never_collide() -> None:
    keys = [None, None, "", "", "crm.company:8f21:stage", "crm.company:8f21:observation.buying"]
    brief = pack([an_item("memory", subject_key=key, title=str(i)) for i, key in enumerate(keys)])
    assert set(outcomes(brief).values()) == {"kept"}


def test_precedence_runs_before_spending() -> None:
    # The winner is too large to be kept, and the loser would have fit: it is lost all the same.
    items = [
        an_item("application", "x" * 4000, title="winner", subject_key="a:1:x"),
        an_item("memory", title="loser", subject_key="a:1:x"),
    ]
    brief = pack(items, total=100)
    assert outcomes(brief) == {"winner": "over_total_budget", "loser": "lost_subject_key"}


def test_an_item_that_loses_its_key_costs_nothing() -> None:
    items = [
        an_item("application", title="a", subject_key="a:1:x"),
        an_item("memory", "x" * 380, title="big", subject_key="a:1:x"),
        an_item("memory", "x" * 380, title="fits"),
    ]
    brief = pack(items, "application", "memory", each=100)
    assert outcomes(brief) == {"a": "kept", "big": "lost_subject_key", "fits": "kept"}


def test_an_item_whose_source_is_not_enabled_never_wins_a_subject_key() -> None:
    policy = a_policy("application", "memory")
    off = policy.sources[0].model_copy(update={"enabled": False})
    policy = policy.model_copy(update={"sources": [off, policy.sources[1]]})
    items = [
        an_item("application", title="off", subject_key="a:1:x"),
        an_item("dossier", title="unnamed", subject_key="a:1:x"),
        an_item("memory", title="on", subject_key="a:1:x"),
    ]
    brief = PACKER.pack(items, policy, explain=True)
    assert outcomes(brief) == {"off": "unknown_source", "unnamed": "unknown_source", "on": "kept"}
    assert brief.dropped == {"application": 1, "dossier": 1, "memory": 0}
    assert brief.per_source_tokens["application"] == 0


def test_a_disabled_source_that_stands_first_displaces_no_enabled_one() -> None:
    policy = a_policy("application", "memory", "knowledge", total=heading("memory") + 5)
    off = policy.sources[0].model_copy(update={"enabled": False})
    policy = policy.model_copy(update={"sources": [off, *policy.sources[1:]]})
    brief = PACKER.pack([an_item("application", "off"), an_item("memory", "kept")], policy)
    assert brief.dropped == {"application": 1, "memory": 0}


def test_one_class_is_spent_in_the_policy_order_of_its_sources() -> None:
    first = an_item("memory", title="first", subject_key="a:1:x")
    second = an_item("knowledge", title="second", kind="memory", subject_key="a:1:x")
    for order in (["memory", "knowledge"], ["knowledge", "memory"]):
        brief = pack([second, first], *order)
        kept = {"memory": "first", "knowledge": "second"}[order[0]]
        assert outcomes(brief)[kept] == "kept"


def test_each_charge_is_exact() -> None:
    item = an_item("memory", "four", title="t", ref=a_ref("1"))
    line = estimate_tokens("- [doc:1] t: four\n")
    exact = heading("memory") + line
    brief = pack([item], total=exact, each=line)
    assert brief.per_source_tokens == {"memory": line}
    assert [(e.tokens, e.heading_tokens) for e in brief.explain or []] == [
        (line, heading("memory"))
    ]
    assert outcomes(pack([item], total=exact - 1, each=line)) == {"t": "over_total_budget"}
    assert outcomes(pack([item], total=exact, each=line - 1)) == {"t": "over_source_budget"}


def test_a_heading_is_charged_once_and_only_with_an_admitted_item() -> None:
    items = [
        an_item("application", "x" * 1000, title="too large"),
        *[an_item("memory", title=title) for title in ("one", "two")],
    ]
    line = estimate_tokens("- one: body\n")
    brief = pack(items, total=heading("memory") + 2 * line)
    assert outcomes(brief) == {"too large": "over_total_budget", "one": "kept", "two": "kept"}
    assert "## Application" not in brief.text


def test_an_item_behind_a_dropped_one_may_still_fit() -> None:
    items = [an_item("memory", "x" * 1000, title="large"), an_item("memory", title="small")]
    assert outcomes(pack(items, total=50)) == {"large": "over_total_budget", "small": "kept"}


@pytest.mark.parametrize("measured", [0, 1])
def test_line_ends_are_charged_too(measured: int) -> None:
    # Each line is 40 bytes without its end, so a hundred ends are 25 tokens that must not be free.
    items = [an_item("memory", "x" * 30, title="title0", tokens=measured) for _ in range(100)]
    assert pack(items, total=800, each=600).tokens <= 600 + heading("memory")
    assert pack(items, total=600).tokens <= 600


def test_what_a_source_measured_covers_the_body_and_the_frame_is_added() -> None:
    item = an_item("memory", "four", title="t", ref=a_ref("1"), tokens=30)
    brief = pack([item])
    assert brief.per_source_tokens == {"memory": 30 + estimate_tokens("- [doc:1] t: \n")}


def test_a_measure_below_the_estimate_cannot_break_the_budget() -> None:
    item = an_item("memory", "x" * 4000, title="t", tokens=1)
    assert outcomes(pack([item], total=100)) == {"t": "over_total_budget"}
    frame = estimate_tokens("- t: \n")
    assert pack([item]).per_source_tokens == {"memory": 1000 + frame}


def test_the_estimate_of_an_item_counts_bytes() -> None:
    brief = pack([an_item("memory", "日" * 40, title="t")])
    assert brief.per_source_tokens == {"memory": estimate_tokens("- t: \n" + "x" * 120)}


def test_the_unavailable_line_is_written_and_not_capped() -> None:
    brief = PACKER.pack([an_item("memory")], a_policy("memory", total=0), ["knowledge"])
    assert brief.text.startswith("Unavailable sources: knowledge.")
    assert brief.tokens == estimate_tokens(brief.text) > 0
    assert brief.dropped == {"memory": 1}


def test_the_unavailable_line_takes_nothing_from_the_items() -> None:
    line = estimate_tokens("- title: body\n")
    policy = a_policy("memory", total=heading("memory") + line)
    brief = PACKER.pack([an_item("memory")], policy, ["knowledge", "dossier"])
    assert brief.dropped == {"memory": 0}


def test_a_failed_sources_name_never_keeps_a_brief_from_being_written() -> None:
    brief = PACKER.pack([an_item("memory")], a_policy("memory"), ["\ud800", "a\0b", "ab", "\udfff"])
    assert brief.failed_sources == ["ab", "\ufffd"]
    assert ContextBrief.model_validate_json(brief.model_dump_json()) == brief


def test_failed_sources_are_named_once_in_policy_order() -> None:
    policy = a_policy("memory", "knowledge", "dossier")
    failed = ["unheard_of", "dossier", "memory", "dossier"]
    brief = PACKER.pack([], policy, failed)
    assert brief.failed_sources == ["memory", "dossier", "unheard_of"]
    assert "memory, dossier, unheard_of." in brief.text


def test_a_source_that_failed_has_no_entry_in_the_account() -> None:
    brief = PACKER.pack([an_item("memory")], a_policy("memory", "knowledge"), ["knowledge"])
    assert set(brief.dropped) == set(brief.per_source_tokens) == {"memory"}


def test_page_order_moves_sections_and_the_rest_follow_in_class_order() -> None:
    items = [an_item(kind) for kind in ("conversation", "application", "knowledge", "memory")]
    policy = a_policy("conversation", "application", "knowledge", "memory")
    policy = policy.model_copy(update={"page_order": ["memory", "run_history", "application"]})
    text = PACKER.pack(items, policy).text
    headings = [line for line in text.split("\n") if line.startswith("##")]
    assert headings == ["## Memory", "## Application state", "## Conversation", "## Knowledge"]


def test_a_higher_rank_renders_lower_and_ties_keep_the_spend_order() -> None:
    ranks = {"newest": 2, "middle a": 1, "middle b": 1, "oldest": 0}
    items = [an_item("conversation", "", title=t, rank_in_section=r) for t, r in ranks.items()]
    lines = pack(items).text.split("\n")[1:]
    assert lines == ["- oldest", "- middle a", "- middle b", "- newest"]


def test_a_rank_never_changes_what_is_kept() -> None:
    items = [
        an_item("conversation", title="first", rank_in_section=9),
        an_item("conversation", title="second", rank_in_section=0),
    ]
    total = heading("conversation") + estimate_tokens("- first: body\n")
    assert outcomes(pack(items, total=total)) == {"first": "kept", "second": "over_total_budget"}


def test_the_refs_of_a_kept_item_reach_the_brief_and_those_of_a_cut_one_do_not() -> None:
    run, row, other = a_ref("run1", "run"), a_ref("c-1", "company"), a_ref("c-2", "company")
    items = [
        an_item("run_history", "made crm.company c-1 today", ref=run, body_refs=[row, row]),
        an_item("run_history", "c-2 " + "x" * 900, ref=a_ref("run2", "run"), body_refs=[other]),
    ]
    assert pack(items, total=60).items == [run, row]


def test_two_items_of_one_row_cite_it_once() -> None:
    company = ResourceRef(kind="crm.company", id="1", label="Acme")
    again = ResourceRef(kind="crm.company", id="1")
    items = [an_item("application", title="name", ref=company)]
    assert pack([*items, an_item("application", title="domain", ref=again)]).items == [company]


def test_a_packed_brief_takes_no_part_in_the_time_of_day() -> None:
    items = [an_item("memory", recorded_at="2026-01-01T00:00:00Z")]
    later = [an_item("memory", recorded_at="2027-01-01T00:00:00Z")]
    assert pack(items).digest == pack(later).digest
