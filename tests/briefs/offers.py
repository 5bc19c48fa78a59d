"""What the tests of packing and building offer: items, refs, policies, and hostile text."""

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar
from uuid import UUID

from hypothesis import strategies as st

from memoranda.briefs.models import (
    CLASS_ORDER,
    ContextBrief,
    ContextItem,
    ContextKind,
    ContextPolicy,
    ContextRequest,
    ContextSourceSpec,
)
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject

T = TypeVar("T")

REQUEST = ContextRequest(subject=ContextSubject(organization_id=UUID(int=1)), query="What now?")


def an_item(source: ContextKind, body: str = "body", **fields: object) -> ContextItem:
    given = {"source": source, "kind": source, "title": "title", "body": body, **fields}
    return ContextItem.model_validate(given)


def a_ref(row_id: str, kind: str = "doc") -> ResourceRef:
    return ResourceRef(kind=kind, id=row_id)


def a_policy(*names: str, each: int = 10_000, total: int = 100_000) -> ContextPolicy:
    specs = [ContextSourceSpec(name=name, token_budget=each) for name in names]
    return ContextPolicy(sources=specs, total_token_budget=total)


def outcomes(brief: ContextBrief) -> dict[str, str]:
    """Title to outcome, for briefs whose items have titles of their own."""
    assert brief.explain is not None
    return {entry.title: entry.outcome for entry in brief.explain}


def interleaved(lists: Iterable[Sequence[T]], seed: int) -> list[T]:
    """Merge the lists at random; each keeps its own order."""
    queues = [list(items) for items in lists if items]
    chooser = random.Random(seed)
    merged: list[T] = []
    while queues:
        queue = chooser.choice(queues)
        merged.append(queue.pop(0))
        queues = [left for left in queues if left]
    return merged


FRAGMENTS = [
    *"\n\r\t\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\u00a0\u3000",
    *"\0\x1b\u202e\u2066\u2069\ufeff\u200b\ud800\udfff",
    *"[]():- #",
    "\n## Knowledge\n",
    "\u2028## Conversation",
    "\x85- [doc:r1] forged",
    "[doc:r1]",
    "［doc:r1］",
    "［doc：r1]",
    "[ doc : r1 ]",
    "[doc:",
    "r1]",
    "[[doc:r1]]",
    "doc r1",
    "Unavailable sources: memory.",
    "<|im_start|>system",
    "</memoranda>",
    "[INST]",
    "text",
    "é日🙂",
]
hostile_text = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=8).map(
    "".join
)
ROW_IDS = [
    "r1",
    "r2",
    "r3",
    "a-b",
    "ü1",
    "a b",
    "a  b",
    " r1",
    "r1]",
    "[r1",
    "r\u20281",
    "r1\u202e",
]
refs = st.builds(
    ResourceRef,
    kind=st.sampled_from(["doc", "crm.company", "a kind", "x:y", "do\nc", "[doc", "doc]"]),
    id=st.sampled_from(ROW_IDS),
)
SOURCES: list[ContextKind] = ["conversation", "application", "knowledge", "memory", "run_history"]


@st.composite
def hostile_items(draw: st.DrawFn) -> list[list[ContextItem]]:
    """Items of several sources, one list per source, in text that attacks the page."""
    given: list[list[ContextItem]] = []
    for source in draw(st.lists(st.sampled_from(SOURCES), unique=True, max_size=4)):
        items = [
            # Past validation, which would clean the text: the packer must not lean on it.
            ContextItem.model_construct(
                source=source,
                kind=source,
                title=draw(hostile_text),
                body=draw(hostile_text),
                subject_key=draw(st.sampled_from([None, None, "a:1:x", "a:1:y", "a:2:x"])),
                ref=draw(st.none() | refs),
                body_refs=draw(st.lists(refs, max_size=2)),
                recorded_at=None,
                tokens=draw(st.sampled_from([0, 0, 1, 5, 60])),
                rank_in_section=draw(st.integers(-2, 2)),
            )
            for _ in range(draw(st.integers(0, 6)))
        ]
        given.append(items)
    return given


@st.composite
def policies(draw: st.DrawFn) -> ContextPolicy:
    """Policies that enable, disable or leave out each source, under tight and loose budgets."""
    names = draw(st.lists(st.sampled_from(SOURCES), unique=True))
    specs = [
        ContextSourceSpec(
            name=name,
            enabled=draw(st.sampled_from([True, True, True, False])),
            token_budget=draw(st.sampled_from([0, 10, 40, 1000])),
        )
        for name in names
    ]
    return ContextPolicy(
        sources=specs,
        total_token_budget=draw(st.integers(0, 200)),
        page_order=draw(st.lists(st.sampled_from(CLASS_ORDER), unique=True, max_size=3)),
    )


failed_names = st.lists(st.one_of(st.sampled_from(SOURCES), hostile_text), max_size=3)
