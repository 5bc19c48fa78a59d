"""Which context policies may be published, and the policies that come with the product."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from memoranda.briefs.models import (
    CLASS_ORDER,
    MOST_TOKENS,
    ContextKind,
    ContextPolicy,
    ContextSourceSpec,
)
from memoranda.briefs.options import OPTION_SCHEMAS, is_filter_name
from memoranda.words.errors import Path, PolicyRejected
from memoranda.words.shape import misshapen

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
_ENVELOPE = {"name", "version", "policy", "created_at"}


def check_policy(
    raw: object, schemas: Mapping[str, type[BaseModel]] = OPTION_SCHEMAS
) -> ContextPolicy:
    """Return the policy that `raw` states, if it may be published.

    `schemas` maps each source name to its option schema; the registry knows those of its readers.
    Raises PolicyRejected with every reason, each at its own path.
    """
    raw = _plain(raw)
    rejections = sorted([*_misshapen(raw), *_unruly(raw, schemas)], key=_place)
    if rejections:
        raise PolicyRejected.because(rejections)
    return ContextPolicy.model_validate(raw)


def _place(rejection: Rejection) -> list[tuple[bool, int, str]]:
    """Where it is, so that the reasons come in the order of the places that they speak of."""
    return [
        (isinstance(step, str), 0 if isinstance(step, str) else step, str(step))
        for step in rejection[0]
    ]


def _front_door() -> ContextPolicy:
    return ContextPolicy(
        sources=[_source(name, _DEFAULT_TOKENS[name]) for name in _DEFAULT_TOKENS],
        total_token_budget=DEFAULT_TOTAL_TOKENS,
    )


def default_policy(
    readers: Iterable[str], total_token_budget: int = DEFAULT_TOTAL_TOKENS
) -> ContextPolicy:
    """Make the policy that is used when none is named: every source that has a reader.

    The two outreach sources stay out, because only a brief for planning outreach holds them; and
    the dossier's list of documents, because what answers the query stands under knowledge. A
    total above the usual one raises each source's budget in proportion; below it, the total cuts.
    """
    present = set(readers)
    scale = max(total_token_budget, DEFAULT_TOTAL_TOKENS)
    more: Mapping[str, dict[str, Any]] = {
        "knowledge": {"limit": 20},
        "dossier": {"options": {"include_documents": False}},
    }
    return ContextPolicy(
        sources=[
            _source(name, tokens * scale // DEFAULT_TOTAL_TOKENS, **more.get(name, {}))
            for name, tokens in _DEFAULT_TOKENS.items()
            if name in present
        ],
        total_token_budget=total_token_budget,
    )


def _source(name: ContextKind, token_budget: int, **more: Any) -> ContextSourceSpec:
    if name == "knowledge":
        more = {"limit": 8, "options": dict(_KNOWLEDGE_OPTIONS), **more}
    return ContextSourceSpec(name=name, token_budget=token_budget, **more)


FRONT_DOOR = _front_door()
"""The one platform policy: for a subject without an agent, with no exploratory search."""

PLATFORM_POLICIES: Mapping[str, ContextPolicy] = {FRONT_DOOR_NAME: FRONT_DOOR}


def _plain(raw: object, levels: int = 3) -> object:
    """Write the policy, its sources and each source as JSON would, whatever mapping or sequence they are.

    The models read any; so the rules, which look into what was stated, must not miss one.
    """
    if isinstance(raw, BaseModel):
        return raw.model_dump()
    if levels and isinstance(raw, Mapping):
        return {key: _plain(value, levels - 1) for key, value in raw.items()}
    if levels and isinstance(raw, Sequence) and not isinstance(raw, str | bytes | bytearray):
        return [_plain(value, levels - 1) for value in raw]
    return raw


def unwrapped(raw: object) -> tuple[str | None, object]:
    """The policy that `raw` states, with the name of the envelope that a published one is shown in.

    A policy that stands alone has no name here.
    """
    if isinstance(raw, Mapping) and "policy" in raw and set(raw) <= _ENVELOPE:
        name = raw.get("name")
        return name if isinstance(name, str) else None, raw["policy"]
    return None, raw


def _misshapen(raw: object) -> Iterator[Rejection]:
    """Yield what the models themselves refuse: types, ranges, unknown fields."""
    try:
        ContextPolicy.model_validate(raw)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            yield found["loc"], misshapen(found)


def _unruly(raw: object, schemas: Mapping[str, type[BaseModel]]) -> Iterator[Rejection]:
    """Yield what only publishing refuses, from every field that has its proper shape.

    A source with one misshapen field is judged by its others all the same.
    """
    fields = _as_object(raw)
    sources = [_as_object(each) for each in _as_list(fields.get("sources"))]
    seen: set[str] = set()
    for index, source in enumerate(sources):
        at: Path = ("sources", index)
        name = source.get("name")
        if isinstance(name, str):
            if name in seen:
                yield (*at, "name"), "This source is named twice; name it once."
            seen.add(name)
        yield from _unruly_source(at, source, schemas)
    enabled = any(source and source.get("enabled", True) is True for source in sources)
    if _is_zero(fields.get("total_token_budget", 0)) and enabled:
        message = "A policy that enables a source needs a total budget above zero."
        yield ("total_token_budget",), message
    yield from _over_budget(("total_token_budget",), fields.get("total_token_budget"))
    yield from _repeated_kinds(_as_list(fields.get("page_order")))


def _unruly_source(
    at: Path, source: Mapping[str, object], schemas: Mapping[str, type[BaseModel]]
) -> Iterator[Rejection]:
    if _is_zero(source.get("token_budget")) and source.get("enabled", True) is True:
        yield (*at, "token_budget"), "An enabled source needs a token budget above zero."
    yield from _over_budget((*at, "token_budget"), source.get("token_budget"))
    name, options = source.get("name"), _as_object(source.get("options"))
    schema = schemas.get(name) if isinstance(name, str) else None
    if isinstance(name, str) and schema is None:
        yield (*at, "name"), f"There is no such source; the names are {', '.join(CLASS_ORDER)}."
    for option in filter(is_filter_name, options):
        message = "A policy never filters by tenant, user or row; the subject decides that."
        yield (*at, "options", option), message
    if schema is not None:
        yield from _bad_options((*at, "options"), options, schema)


def _bad_options(
    at: Path, options: Mapping[str, object], schema: type[BaseModel]
) -> Iterator[Rejection]:
    try:
        schema.model_validate({k: v for k, v in options.items() if not is_filter_name(k)})
    except ValidationError as error:
        for found in error.errors(include_url=False):
            yield (*at, *found["loc"]), misshapen(found)


def _repeated_kinds(page_order: list[object]) -> Iterator[Rejection]:
    seen: set[str] = set()
    for index, kind in enumerate(page_order):
        if isinstance(kind, str):
            if kind in seen:
                yield ("page_order", index), "This kind stands here twice; name it once."
            seen.add(kind)


def _over_budget(at: Path, value: object) -> Iterator[Rejection]:
    # Only publishing refuses it: what was published before this rule is still read.
    if type(value) is int and value > MOST_TOKENS:
        yield at, f"This must be at most {MOST_TOKENS} tokens."


def _as_object(value: object) -> dict[str, object]:
    """The value if it is an object, else an empty one: its shape is told of by itself."""
    if not isinstance(value, dict):
        return {}
    return {name: each for name, each in value.items() if isinstance(name, str)}


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_zero(value: object) -> bool:
    return type(value) is int and value == 0
