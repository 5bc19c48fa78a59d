"""Which claims meet: by one complete subject key and by nothing less, and what refs a reply then sees."""

import pytest

from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.models import ContextItem, ContextSourceSpec
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.registry import ContextSource, ContextSourceRegistry
from memoranda.memories.candidate import ATTRIBUTES
from memoranda.words.ref import ResourceRef
from memoranda.words.subject_key import make_subject_key
from tests.briefs.offers import REQUEST, a_policy, an_item, outcomes
from tests.briefs.test_builder import Source

COMPANY = ResourceRef(kind="crm.company", id="8f21")


@pytest.mark.parametrize("attribute", [f"{start}lifecycle_stage" for start in ATTRIBUTES])
def test_what_is_remembered_of_a_row_never_loses_to_a_field_of_that_row(attribute: str) -> None:
    items = [
        an_item(
            "application", title="field", subject_key=make_subject_key(COMPANY, "lifecycle_stage")
        ),
        an_item("memory", title="memory", subject_key=make_subject_key(COMPANY, attribute)),
        an_item("memory", title="other row", subject_key=f"crm.company:8f2:{attribute}"),
    ]
    brief = ContextPacker().pack(items, a_policy("application", "memory"), explain=True)
    assert set(outcomes(brief).values()) == {"kept"}


def test_a_part_of_a_key_is_no_key() -> None:
    keys = ["a:1:observation.x", "a:1:observation.xy", "a:1:observation", "a:11:observation.x"]
    items = [an_item("memory", title=key, subject_key=key) for key in keys]
    brief = ContextPacker().pack(items, a_policy("memory"), explain=True)
    assert set(outcomes(brief).values()) == {"kept"}


def test_of_two_refs_to_one_row_the_first_is_shown() -> None:
    named, renamed = [
        ResourceRef(kind="crm.company", id="8f21", label=label) for label in ("Acme", "Acme Inc.")
    ]
    for refs, label in (([named, renamed], "Acme"), ([renamed, named], "Acme Inc.")):
        items = [an_item("application", title=f"field {n}", ref=ref) for n, ref in enumerate(refs)]
        items.append(an_item("run_history", "changed 8f21", body_refs=[COMPANY]))
        brief = ContextPacker().pack(items, a_policy("application", "run_history"))
        assert [(ref.id, ref.label) for ref in brief.items] == [("8f21", label)]


class WatchedRegistry(ContextSourceRegistry):
    """Keeps which names were looked up."""

    def __init__(self, *sources: ContextSource) -> None:
        super().__init__(sources)
        self.looked_up: list[str] = []

    def get(self, name: str) -> ContextSource | None:
        self.looked_up.append(name)
        return super().get(name)


async def test_a_disabled_source_is_not_even_looked_up() -> None:
    off = [
        ContextSourceSpec(name=name, enabled=False, token_budget=9)
        for name in ("memory", "dossier")
    ]
    policy = a_policy("knowledge")
    policy = policy.model_copy(update={"sources": [*off, *policy.sources]})
    registry = WatchedRegistry(Source("memory"), Source("knowledge"))
    builder = DefaultContextBuilder(registry, ContextPacker())
    await builder.build(REQUEST, policy)
    assert registry.looked_up == ["knowledge"]


async def test_an_item_in_anothers_name_never_wins_a_key_from_it() -> None:
    """Its source fails as a whole, so nothing that it answered is offered."""

    async def pretends() -> list[ContextItem]:
        return [
            an_item("conversation", title="real"),
            an_item("application", title="pretended", subject_key="a:1:x"),
        ]

    sources = [Source("conversation", pretends), Source("application", answers_key)]
    builder = DefaultContextBuilder(ContextSourceRegistry(sources), ContextPacker())
    brief = await builder.build(REQUEST, a_policy("conversation", "application"), explain=True)
    assert brief.failure_reasons == {"conversation": "foreign_item"}
    assert outcomes(brief) == {"own": "kept"}


async def answers_key() -> list[ContextItem]:
    return [an_item("application", title="own", subject_key="a:1:x")]
