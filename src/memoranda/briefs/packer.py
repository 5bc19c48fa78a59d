"""The packer: items in, one block of text under hard token budgets out; pure and synchronous.

What is charged, in one pass over the items in pack order (class, then the policy's order of
sources, then each source's own order):

* a section's heading, with the blank line above it, to the total, when its first item is admitted;
* each admitted item, to the total and to its source: its line with the newline. Where the source
  measured the body, the charge is the measure plus the estimate of the frame around it, and a
  measure below the estimate of the body counts as that estimate;
* nothing for a dropped item.

The unavailable line comes first and is the one cost that the total does not cap. Each charge is
rounded up by itself and the parts make up the whole text, so the estimate of the text, which is
what `ContextBrief.tokens` reports, is at most the total budget plus the cost of that line.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from memoranda.briefs.models import (
    CLASS_ORDER,
    ContextBrief,
    ContextItem,
    ContextKind,
    ContextPolicy,
    ContextSourceSpec,
    ExplainEntry,
    Outcome,
    Winner,
)
from memoranda.briefs.page import (
    Line,
    excerpt,
    section_order,
    write_heading,
    write_line,
    write_notice,
)
from memoranda.words.text import clean
from memoranda.words.tokens import Estimator, estimate_tokens

_CLASS_RANK = {kind: rank for rank, kind in enumerate(CLASS_ORDER)}


class _Offer:
    """One item on its way through the packer."""

    __slots__ = ("heading", "item", "line", "outcome", "tokens", "winner")

    def __init__(self, item: ContextItem, line: Line, tokens: int) -> None:
        self.item = item
        self.line = line
        self.tokens = tokens
        self.heading = 0
        self.outcome: Outcome = "kept"
        self.winner: _Offer | None = None


class ContextPacker:
    """Packs items under a policy. The estimator turns text into tokens."""

    def __init__(self, estimator: Estimator = estimate_tokens) -> None:
        self._estimate = estimator
        self._headings = {kind: estimator(write_heading(kind)) for kind in CLASS_ORDER}

    def pack(
        self,
        items: Iterable[ContextItem],
        policy: ContextPolicy,
        failed_sources: Sequence[str] = (),
        *,
        explain: bool = False,
    ) -> ContextBrief:
        """Keep what fits, whole, strongest class first, and write it.

        The same items under the same policy give the same bytes, in whatever order the sources
        answered. With `explain`, the brief also says of each item what became of it and why.
        """
        specs = policy.enabled()
        offers = [self._offer(item) for item in _in_pack_order(items, specs)]
        _drop_unknown(offers, specs)
        _drop_repeated_subjects(offers)
        self._spend(offers, policy.total_token_budget, specs)
        kept = [offer for offer in offers if offer.outcome == "kept"]
        failed = _in_policy_order([clean(name) for name in failed_sources], policy)
        text = _lay_out(kept, write_notice(failed), policy.page_order)
        return ContextBrief(
            text=text,
            items=list(dict.fromkeys(ref for offer in kept for ref in offer.line.refs)),
            tokens=self._estimate(text),
            per_source_tokens=_sum_by_source(offers, spent=True),
            dropped=_sum_by_source(offers, spent=False),
            failed_sources=failed,
            digest=sha256(text.encode()).hexdigest(),
            explain=[_explained(offer) for offer in offers] if explain else None,
        )

    def _offer(self, item: ContextItem) -> _Offer:
        line = write_line(item)
        if item.tokens and line.body:
            body = max(item.tokens, self._estimate(line.body))
            return _Offer(item, line, body + self._estimate(line.frame))
        return _Offer(item, line, self._estimate(line.text))

    def _spend(self, offers: list[_Offer], total: int, specs: dict[str, ContextSourceSpec]) -> None:
        left = {name: spec.token_budget for name, spec in specs.items()}
        opened: set[ContextKind] = set()
        for offer in offers:
            if offer.outcome != "kept":
                continue
            kind, source = offer.item.kind, offer.item.source
            offer.heading = 0 if kind in opened else self._headings[kind]
            if offer.tokens > left[source]:
                offer.outcome = "over_source_budget"
            elif offer.tokens + offer.heading > total:
                offer.outcome = "over_total_budget"
            else:
                left[source] -= offer.tokens
                total -= offer.tokens + offer.heading
                opened.add(kind)


def _in_pack_order(
    items: Iterable[ContextItem], specs: dict[str, ContextSourceSpec]
) -> list[ContextItem]:
    """Sort by class, then policy order of the source; the sort keeps each source's own order.

    Sources that the policy does not enable come last within their class, by name.
    """
    rank = {name: index for index, name in enumerate(specs)}
    return sorted(
        items,
        key=lambda item: (
            _CLASS_RANK[item.kind],
            rank.get(item.source, len(rank)),
            item.source,
        ),
    )


def _drop_unknown(offers: list[_Offer], specs: dict[str, ContextSourceSpec]) -> None:
    for offer in offers:
        if offer.item.source not in specs:
            offer.outcome = "unknown_source"


def _drop_repeated_subjects(offers: list[_Offer]) -> None:
    """Let the first item in pack order hold each subject key; it need not fit to do so."""
    holders: dict[str, _Offer] = {}
    for offer in offers:
        key = offer.item.subject_key
        if not key or offer.outcome != "kept":
            continue
        holder = holders.setdefault(key, offer)
        if holder is not offer:
            offer.outcome = "lost_subject_key"
            offer.winner = holder


def _in_policy_order(failed_sources: Sequence[str], policy: ContextPolicy) -> list[str]:
    names = [spec.name for spec in policy.sources]
    known = [name for name in dict.fromkeys(names) if name in set(failed_sources)]
    return known + sorted(set(failed_sources).difference(known))


def _lay_out(kept: list[_Offer], notice: str, page_order: list[ContextKind]) -> str:
    sections: dict[ContextKind, list[_Offer]] = {}
    for offer in kept:
        sections.setdefault(offer.item.kind, []).append(offer)
    parts = [notice]
    for kind in section_order(page_order):
        if section := sections.get(kind):
            section.sort(key=lambda offer: offer.item.rank_in_section)
            parts.append(write_heading(kind))
            parts.extend(offer.line.text for offer in section)
    return "".join(parts).strip("\n")


def _sum_by_source(offers: list[_Offer], *, spent: bool) -> dict[str, int]:
    """Sum the charges of kept items, or count the dropped ones; 0 where there is nothing."""
    sums = dict.fromkeys((offer.item.source for offer in offers), 0)
    for offer in offers:
        if spent and offer.outcome == "kept":
            sums[offer.item.source] += offer.tokens
        elif not spent and offer.outcome != "kept":
            sums[offer.item.source] += 1
    return sums


def _explained(offer: _Offer) -> ExplainEntry:
    item, winner = offer.item, offer.winner
    return ExplainEntry(
        source=item.source,
        kind=item.kind,
        title=offer.line.title,
        excerpt=excerpt(offer.line.body),
        ref=item.ref,
        outcome=offer.outcome,
        tokens=offer.tokens,
        heading_tokens=offer.heading,
        lost_to=None
        if winner is None
        else Winner(
            source=winner.item.source,
            kind=winner.item.kind,
            title=winner.line.title,
            excerpt=excerpt(winner.line.body),
            ref=winner.item.ref,
        ),
    )
