"""Which context policies may be published, and the policies that come with the product."""

from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel, ValidationError

from memoranda.briefs.models import CLASS_ORDER, ContextKind, ContextPolicy, ContextSourceSpec
from memoranda.briefs.options import OPTION_SCHEMAS, is_filter_name
from memoranda.words.errors import Path, PolicyRejected

Rejection = tuple[Path, str]

FRONT_DOOR_NAME = "front_door"
DEFAULT_NAME = "default"

DEFAULT_TOTAL_TOKENS = 6_000

_DEFAULT_TOKENS: Mapping[ContextKind, int] = {
    "conversation": 2_000,
    "personal_memory": 600,
    "application": 800,
    "dossier": 800,
    "definition_summary": 500,
    "knowledge": 1_500,
    "memory": 800,
    "run_history": 500,
}
_KNOWLEDGE_OPTIONS = {"include_platform": True, "include_organization": True}


def check_policy(
    raw: object, schemas: Mapping[str, type[BaseModel]] = OPTION_SCHEMAS
) -> ContextPolicy:
    """Return the policy that `raw` states, if it may be published.

    `schemas` maps each source name to its option schema; the registry knows those of its readers.
    Raises PolicyRejected with every reason, each at its own path.
    """
    if isinstance(raw, ContextPolicy):
        raw = raw.model_dump()
    rejections = [*_misshapen(raw), *_unruly(raw, schemas)]
    if rejections:
        raise PolicyRejected.because(rejections)
    return ContextPolicy.model_validate(raw)


def _front_door() -> ContextPolicy:
    return ContextPolicy(
        sources=[_source(name, _DEFAULT_TOKENS[name]) for name in _DEFAULT_TOKENS],
        total_token_budget=DEFAULT_TOTAL_TOKENS,
    )


def default_policy(
    readers: Iterable[str], total_token_budget: int = DEFAULT_TOTAL_TOKENS
) -> ContextPolicy:
    """Make the policy that is used when none is named: every source that has a reader.

    The two outreach sources stay out, because only a brief for planning outreach holds them. A
    total above the usual one raises each source's budget in proportion; below it, the total cuts.
    """
    present = set(readers)
    scale = max(total_token_budget, DEFAULT_TOTAL_TOKENS)
    return ContextPolicy(
        sources=[
            _source(name, tokens * scale // DEFAULT_TOTAL_TOKENS, knowledge_items=20)
            for name, tokens in _DEFAULT_TOKENS.items()
            if name in present
        ],
        total_token_budget=total_token_budget,
    )


def _source(name: ContextKind, token_budget: int, *, knowledge_items: int = 8) -> ContextSourceSpec:
    if name == "knowledge":
        return ContextSourceSpec(
            name=name,
            token_budget=token_budget,
            limit=knowledge_items,
            options=dict(_KNOWLEDGE_OPTIONS),
        )
    return ContextSourceSpec(name=name, token_budget=token_budget)


FRONT_DOOR = _front_door()
"""The one platform policy: for a subject without an agent, with no exploratory search."""

PLATFORM_POLICIES: Mapping[str, ContextPolicy] = {FRONT_DOOR_NAME: FRONT_DOOR}


def _misshapen(raw: object) -> Iterator[Rejection]:
    """Yield what the models themselves refuse: types, ranges, unknown fields."""
    try:
        ContextPolicy.model_validate(raw)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            yield found["loc"], f"{found['msg']}."


def _unruly(raw: object, schemas: Mapping[str, type[BaseModel]]) -> Iterator[Rejection]:
    """Yield what only publishing refuses, from every part of `raw` that has its proper shape."""
    fields = raw if isinstance(raw, dict) else {}
    sources, page_order = fields.get("sources"), fields.get("page_order")
    specs = dict(_well_formed(sources if isinstance(sources, list) else []))
    names: set[str] = set()
    for index, spec in specs.items():
        at: Path = ("sources", index)
        if spec.name in names:
            yield (*at, "name"), "This source is named twice; name it once."
        names.add(spec.name)
        yield from _unruly_source(at, spec, schemas)
    if fields.get("total_token_budget", 0) == 0 and any(s.enabled for s in specs.values()):
        message = "A policy that enables a source needs a total budget above zero."
        yield ("total_token_budget",), message
    yield from _repeated_kinds(page_order if isinstance(page_order, list) else [])


def _well_formed(sources: list[object]) -> Iterator[tuple[int, ContextSourceSpec]]:
    for index, source in enumerate(sources):
        try:
            yield index, ContextSourceSpec.model_validate(source)
        except ValidationError:
            continue  # reported by _misshapen


def _unruly_source(
    at: Path, spec: ContextSourceSpec, schemas: Mapping[str, type[BaseModel]]
) -> Iterator[Rejection]:
    if spec.enabled and spec.token_budget == 0:
        yield (*at, "token_budget"), "An enabled source needs a token budget above zero."
    schema = schemas.get(spec.name)
    if schema is None:
        yield (*at, "name"), f"There is no such source; the names are {', '.join(CLASS_ORDER)}."
    for option in filter(is_filter_name, spec.options):
        message = "A policy never filters by tenant, user or row; the subject decides that."
        yield (*at, "options", option), message
    if schema is not None:
        yield from _bad_options((*at, "options"), spec, schema)


def _bad_options(at: Path, spec: ContextSourceSpec, schema: type[BaseModel]) -> Iterator[Rejection]:
    options = {key: value for key, value in spec.options.items() if not is_filter_name(key)}
    try:
        schema.model_validate(options)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            yield (*at, *found["loc"]), f"{found['msg']}."


def _repeated_kinds(page_order: list[object]) -> Iterator[Rejection]:
    seen: set[str] = set()
    for index, kind in enumerate(page_order):
        if isinstance(kind, str):
            if kind in seen:
                yield ("page_order", index), "This kind stands here twice; name it once."
            seen.add(kind)
