"""What holds of every brief, whatever is offered and whatever may be spent."""

import re
from collections import Counter
from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.briefs.models import ContextBrief, ContextItem, ContextPolicy
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.page import HEADINGS
from memoranda.words.tokens import estimate_tokens
from tests.briefs.offers import ROW_IDS, failed_names, hostile_items, interleaved, policies

Items = list[list[ContextItem]]


def packed(
    items: Items, policy: ContextPolicy, failed: list[str] | None = None, seed: int = 0
) -> ContextBrief:
    return ContextPacker().pack(interleaved(items, seed), policy, failed or (), explain=True)


def notice_of(brief: ContextBrief) -> str:
    return brief.text.split("\n")[0] if brief.failed_sources else ""


@given(hostile_items(), policies(), failed_names)
def test_no_budget_is_ever_exceeded(items: Items, policy: ContextPolicy, failed: list[str]) -> None:
    brief = packed(items, policy, failed)
    assert brief.tokens == estimate_tokens(brief.text)
    assert brief.tokens <= policy.total_token_budget + estimate_tokens(notice_of(brief) + "\n")
    for name, spent in brief.per_source_tokens.items():
        assert spent <= sum(s.token_budget for s in policy.sources if s.name == name and s.enabled)


@given(hostile_items(), policies())
def test_what_a_source_has_on_the_page_is_within_its_budget(
    items: Items, policy: ContextPolicy
) -> None:
    brief = packed(items, policy)
    sections = re.split(r"^## .*$", brief.text, flags=re.MULTILINE)[1:]
    titles = re.findall(r"^## .*$", brief.text, flags=re.MULTILINE)
    sources = {heading: kind for kind, heading in HEADINGS.items()}
    for title, section in zip(titles, sections, strict=True):
        spent = estimate_tokens(section.strip("\n"))
        assert spent <= brief.per_source_tokens[sources[title]]


@given(hostile_items(), policies(), failed_names, st.integers(), st.integers())
def test_the_order_in_which_sources_answer_never_matters(
    items: Items, policy: ContextPolicy, failed: list[str], one: int, other: int
) -> None:
    assert packed(items, policy, failed, one) == packed(items, policy, failed[::-1], other)


@given(hostile_items(), policies(), failed_names)
def test_one_item_is_one_line_and_only_the_packer_opens_sections(
    items: Items, policy: ContextPolicy, failed: list[str]
) -> None:
    brief = packed(items, policy, failed)
    kept = [entry for entry in brief.explain or [] if entry.outcome == "kept"]
    lines = brief.text.splitlines()
    assert lines == brief.text.split("\n") or not brief.text, "only line feeds end lines"
    if brief.failed_sources:
        assert lines.pop(0).startswith("Unavailable sources: ")
    assert sum(line.startswith("-") for line in lines) == len(kept)
    headings = [line for line in lines if line and not line.startswith("-")]
    assert len(headings) == len(set(headings))
    assert set(headings) == {HEADINGS[entry.kind] for entry in kept}
    brief.text.encode()
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", brief.text)


@given(hostile_items(), policies(), failed_names)
def test_no_text_forges_a_citation(items: Items, policy: ContextPolicy, failed: list[str]) -> None:
    brief = packed(items, policy, failed)
    kept = [entry.ref for entry in brief.explain or [] if entry.outcome == "kept" and entry.ref]
    own = Counter(f"[{ref.kind}:{ref.id}]" for ref in kept if ref in brief.items)
    # Read as loosely as any reader might: spaces allowed, closing bracket optional.
    seen = re.findall(r"\[\s*[\w. -]+:[^\]\n]*\]?", brief.text)
    assert Counter(seen) - own == Counter()
    assert not re.search(r"［\s*[A-Za-z][\w. -]*[:：]", brief.text)


@given(hostile_items(), policies())
def test_a_brief_cites_only_what_it_wrote_as_stored(items: Items, policy: ContextPolicy) -> None:
    brief = packed(items, policy)
    assert len(brief.items) == len(set(brief.items))
    for ref in brief.items:
        assert ref.kind in {"doc", "crm.company", "a kind"}
        assert ref.id in {"r1", "r2", "r3", "a-b", "ü1", "a b"} <= set(ROW_IDS)
        standing = re.search(rf"(?<![\w-]){re.escape(ref.id)}(?![\w-])", brief.text)
        assert f"[{ref.kind}:{ref.id}]" in brief.text or standing


@given(hostile_items(), policies(), failed_names)
def test_explain_tells_exactly_what_was_charged_and_why(
    items: Items, policy: ContextPolicy, failed: list[str]
) -> None:
    brief = packed(items, policy, failed)
    assert brief.explain is not None
    assert len(brief.explain) == sum(map(len, items))
    left = {s.name: s.token_budget for s in policy.sources if s.enabled}
    total, opened = policy.total_token_budget, set()
    for entry in brief.explain:
        cost = entry.tokens + entry.heading_tokens
        if entry.outcome == "unknown_source":
            assert entry.source not in left
        elif entry.outcome == "lost_subject_key":
            assert entry.lost_to is not None
        elif entry.outcome == "over_source_budget":
            assert entry.tokens > left[entry.source]
        elif entry.outcome == "over_total_budget":
            assert entry.tokens <= left[entry.source]
            assert cost > total
        else:
            assert (entry.heading_tokens == 0) == (entry.kind in opened)
            opened.add(entry.kind)
            left[entry.source] -= entry.tokens
            total -= cost
        assert (entry.lost_to is not None) == (entry.outcome == "lost_subject_key")
        assert entry.tokens > 0
    assert total >= 0
    assert min(left.values(), default=0) >= 0


@given(hostile_items(), policies())
def test_the_account_has_an_entry_for_every_source_that_offered(
    items: Items, policy: ContextPolicy
) -> None:
    brief = packed(items, policy)
    offered = Counter(item.source for group in items for item in group)
    assert set(brief.dropped) == set(brief.per_source_tokens) == set(offered)
    for name, count in offered.items():
        entries = [e for e in brief.explain or [] if e.source == name]
        assert len(entries) == count
        assert brief.dropped[name] == sum(e.outcome != "kept" for e in entries)
        assert brief.per_source_tokens[name] == sum(
            e.tokens for e in entries if e.outcome == "kept"
        )


WORD = st.text(alphabet="abcé日🙂", min_size=1, max_size=12)


@given(st.lists(st.lists(WORD, min_size=1, max_size=9), max_size=12), st.integers(0, 120))
def test_a_body_is_whole_on_the_page_or_not_there(bodies: list[list[str]], total: int) -> None:
    items = [
        ContextItem(
            source="memory", kind="memory", title=f"t{index}", body="\n".join([*words, "end"])
        )
        for index, words in enumerate(bodies)
    ]
    policy = ContextPolicy.model_validate(
        {"sources": [{"name": "memory", "token_budget": 80}], "total_token_budget": total}
    )
    brief = packed([items], policy)
    lines = brief.text.split("\n")[1:]
    assert len(lines) + sum(brief.dropped.values()) == len(items)
    whole = {f"- t{index}: {' '.join([*words, 'end'])}" for index, words in enumerate(bodies)}
    assert set(lines) <= whole


@given(hostile_items(), policies(), failed_names, st.booleans())
def test_the_digest_is_of_the_text_and_explaining_changes_nothing(
    items: Items, policy: ContextPolicy, failed: list[str], explain: bool
) -> None:
    brief = packed(items, policy, failed)
    assert brief.digest == sha256(brief.text.encode()).hexdigest()
    plain = ContextPacker().pack(interleaved(items, 0), policy, failed)
    assert plain == brief.model_copy(update={"explain": None})


@given(hostile_items(), policies())
def test_moving_sections_and_items_on_the_page_keeps_the_same(
    items: Items, policy: ContextPolicy
) -> None:
    flat = [[item.model_copy(update={"rank_in_section": 0}) for item in group] for group in items]
    moved = packed(items, policy)
    straight = packed(flat, policy.model_copy(update={"page_order": []}))
    assert moved.explain == straight.explain
    assert moved.items == straight.items
    assert sorted(moved.text.split("\n")) == sorted(straight.text.split("\n"))


@settings(max_examples=50)
@given(hostile_items(), policies(), st.integers(1, 7))
def test_budgets_hold_under_any_estimator_that_is_handed_in(
    items: Items, policy: ContextPolicy, size: int
) -> None:
    def estimator(text: str) -> int:
        return -(-len(text) // size)

    brief = ContextPacker(estimator).pack(interleaved(items, 0), policy)
    assert brief.tokens == estimator(brief.text) <= policy.total_token_budget
