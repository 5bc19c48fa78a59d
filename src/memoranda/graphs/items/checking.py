"""What is asked of items, checked before any of it is done: each refusal names its field. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final

from memoranda.graphs.items.matching import SEPARATOR, check_filter, text_of
from memoranda.graphs.items.models import (
    GetItem,
    ListNamespaces,
    Namespace,
    Operation,
    PutItem,
    SearchItems,
)
from memoranda.graphs.limits import (
    LARGEST_VALUE,
    LAST_OFFSET,
    LONGEST_NAMESPACE,
    MOST_ASKED,
    name_input,
)
from memoranda.words.errors import Invalid
from memoranda.words.inputs import json_input

LONGEST_TTL_MS: Final = 100 * 366 * 24 * 3_600_000
"""A hundred years: whatever lives longer need not expire."""
_WRITE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def check(field: str, asked: Operation) -> None:
    """Raise `Invalid` or `OverLimit` for what can't be asked."""
    match asked:
        case GetItem() | PutItem():
            check_namespace(f"{field}.namespace", asked.namespace, empty=False)
            name_input(f"{field}.key", asked.key)
        case SearchItems():
            check_namespace(f"{field}.namespace", asked.namespace)
            _check_filter(f"{field}.filter", asked.filter)
            _check_part(field, asked.limit, asked.offset)
        case ListNamespaces():
            for each in asked.conditions:
                check_namespace(f"{field}.conditions", each.path)
                if each.match not in {"prefix", "suffix"}:
                    raise Invalid(
                        f"{field}.conditions: a condition matches a prefix or a suffix.",
                        field=f"{field}.conditions",
                    )
            if asked.max_depth is not None and asked.max_depth < 1:
                raise Invalid(f"{field}.max_depth must be 1 or more.", field=f"{field}.max_depth")
            _check_part(field, asked.limit, asked.offset)


def check_put(put: PutItem) -> str | None:
    """The value as JSON; None where the item is to be taken away. Raises `Invalid` and `OverLimit`."""
    if put.value is None:
        return None
    if put.ttl_ms is not None and not 0 < put.ttl_ms <= LONGEST_TTL_MS:
        raise Invalid("ttl must be more than nothing and 100 years at the most.", field="ttl")
    return _WRITE(json_input("value", dict(put.value), limit=LARGEST_VALUE))


def check_namespace(field: str, namespace: Namespace, *, empty: bool = True) -> None:
    """Raise `Invalid` or `OverLimit` for labels that no namespace has."""
    if not namespace and not empty:
        raise Invalid(f"{field} is empty: give it a label.", field=field)
    for label in namespace:
        name_input(field, label, limit=LONGEST_NAMESPACE)
        if SEPARATOR in label:
            raise Invalid(f"{field} has a label with a period in it: use another.", field=field)
    name_input(field, text_of(namespace), limit=LONGEST_NAMESPACE, blank=True)


def _check_filter(field: str, wanted: Mapping[str, Any] | None) -> None:
    if wanted is not None:
        json_input(field, dict(wanted), limit=LARGEST_VALUE)
        check_filter(wanted)


def _check_part(field: str, limit: int, offset: int) -> None:
    if not 0 <= limit <= MOST_ASKED:
        raise Invalid(f"{field}.limit is between 0 and {MOST_ASKED}.", field=f"{field}.limit")
    if not 0 <= offset <= LAST_OFFSET:
        raise Invalid(f"{field}.offset is 0 or more.", field=f"{field}.offset")
