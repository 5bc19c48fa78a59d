"""The values of a brief: what is asked, what may be spent, what was offered, what came out."""

from datetime import datetime
from typing import Annotated, Literal, TypeVar, get_args
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    field_validator,
)

from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from memoranda.words.text import clean

MAX_CONTEXT_ITEM_LIMIT = 999
"""The most items that one source may be asked for."""

MOST_TOKENS = 1_000_000
"""The largest token budget, of one source or of all."""

ContextKind = Literal[
    "conversation",
    "outreach_thread",
    "outreach",
    "personal_memory",
    "application",
    "dossier",
    "definition_summary",
    "knowledge",
    "memory",
    "run_history",
]

CLASS_ORDER: tuple[ContextKind, ...] = get_args(ContextKind)
"""The classes by precedence, the strongest claim first. Each kind is also its source's name."""

Outcome = Literal[
    "kept", "lost_subject_key", "over_source_budget", "over_total_budget", "unknown_source"
]

FailureReason = Literal["timeout", "error", "missing", "foreign_item", "present_only", "gone"]

OptionsT = TypeVar("OptionsT", bound=BaseModel)


def _clean_text(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


# One bad character in one row must not fail the whole source.
Text = Annotated[str, BeforeValidator(_clean_text)]


class Value(BaseModel):
    """A frozen model that knows its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ContextRequest(Value):
    """What a brief is asked for. Every source filters by `subject` and by nothing else.

    With `as_of`, what was known at that time; None is the present.
    """

    subject: ContextSubject
    query: Text
    entities: list[ResourceRef] = []
    run_id: UUID | None = None
    conversation_id: UUID | None = None
    as_of: AwareDatetime | None = None


class ContextSourceSpec(Value):
    """One source of a policy. `limit` counts items; None takes the source's own default."""

    name: str
    enabled: StrictBool = True
    required: StrictBool = False
    token_budget: int = Field(ge=0, strict=True)
    limit: int | None = Field(default=None, ge=0, le=MAX_CONTEXT_ITEM_LIMIT, strict=True)
    options: dict[str, object] = {}

    def options_as(self, schema: type[OptionsT]) -> OptionsT:
        """Read the options through the source's schema; raises pydantic's ValidationError."""
        return schema.model_validate(self.options)


class ContextPolicy(Value):
    """Which sources feed a brief, and what each and all together may spend in tokens.

    `page_order` moves sections on the page; it never changes what is kept.
    """

    # Strict lists: a set has no order, and what can be read only once is read twice.
    sources: list[ContextSourceSpec] = Field(strict=True)
    total_token_budget: int = Field(default=0, ge=0, strict=True)
    refresh_on_resume: StrictBool = True
    page_order: list[ContextKind] = Field(default=[], strict=True)

    def enabled(self) -> dict[str, ContextSourceSpec]:
        """Return the enabled sources by name, in policy order; the first of a name stands."""
        specs: dict[str, ContextSourceSpec] = {}
        for spec in self.sources:
            if spec.enabled:
                specs.setdefault(spec.name, spec)
        return specs


class PublishedPolicy(Value):
    """One version of a policy. `version` is 0 and `created_at` None for those that come with the product."""

    name: str
    version: int
    policy: ContextPolicy
    created_at: datetime | None


class ContextItem(Value):
    """One thing that a source offers to the brief.

    `tokens` is what the source measured for the body alone, 0 when it measured nothing.
    `body_refs` are further rows that the body names by id. A higher `rank_in_section`
    renders lower in its section.
    """

    source: str
    kind: ContextKind
    title: Text
    body: Text
    subject_key: str | None = None
    ref: ResourceRef | None = None
    body_refs: list[ResourceRef] = Field(default_factory=list)  # a literal would be copied deeply
    recorded_at: AwareDatetime | None = None
    tokens: int = Field(default=0, ge=0)
    rank_in_section: int = 0

    @field_validator("subject_key")
    @classmethod
    def _empty_is_none(cls, key: str | None) -> str | None:
        return key or None


class Winner(Value):
    """The item that held the same subject key and stayed."""

    source: str
    kind: ContextKind
    title: str
    excerpt: str = ""
    ref: ResourceRef | None = None


class ExplainEntry(Value):
    """What became of one offered item.

    `tokens` is what the item was or would have been charged. `heading_tokens` is what its
    section's heading would have added because no item had opened the section before; it is
    0 for an item that never came to be charged. `title` is written as the brief writes it, and
    `excerpt` is the beginning of its body, at most 60 characters.
    """

    source: str
    kind: ContextKind
    title: str
    excerpt: str = ""
    ref: ResourceRef | None = None
    outcome: Outcome
    tokens: int
    heading_tokens: int = 0
    lost_to: Winner | None = None


class SourceTime(Value):
    """Which time a source answered for, when it was asked of a past one: that time, or none at all.

    `note` says why there is none, or what of the answer is of the present all the same.
    """

    speaks_for: AwareDatetime | None
    note: str = ""


class ContextBrief(Value):
    """The packed block and its account.

    `text` is the block. `items` are the refs that a reply may cite. `tokens` is the estimate of
    `text`, the unavailable line included. `per_source_tokens` (charges, without headings) and
    `dropped` (counts) have an entry for every source that offered an item. `digest` is the
    SHA-256 of the text in hexadecimal. `explain` has one entry per offered item when asked for.
    `stable_prefix_bytes` is how many leading bytes of the text are those of the block before it,
    of the same run or conversation, and None where there is none. A brief of a past time says in
    `as_of` which, and in `times` of each enabled source whether it could tell of it.
    """

    text: str
    items: list[ResourceRef]
    tokens: int
    per_source_tokens: dict[str, int]
    dropped: dict[str, int]
    failed_sources: list[str]
    failure_reasons: dict[str, FailureReason] = {}
    digest: str
    stable_prefix_bytes: int | None = None
    explain: list[ExplainEntry] | None = None
    as_of: AwareDatetime | None = None
    times: dict[str, SourceTime] = {}
