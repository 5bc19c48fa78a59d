"""Which values a filter means, and which namespaces a condition. Pure."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from memoranda.graphs.items.models import Condition, Namespace
from memoranda.graphs.limits import LONGEST_NAMESPACE
from memoranda.words.errors import Invalid

ANY: Final = "*"
SEPARATOR: Final = "."
_AFTER_SEPARATOR: Final = chr(ord(SEPARATOR) + 1)
_LAST: Final = chr(0x10FFFF) * LONGEST_NAMESPACE
"""Comes after every namespace that there may be."""
_ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS: Final = ("$eq", "$ne", *_ORDERED)


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Raise `Invalid` for an operator that is not known, however deep it stands."""
    for each in wanted.values():
        if isinstance(each, Mapping):
            unknown = [key for key in each if _is_operator(key) and key not in OPERATORS]
            if unknown:
                raise Invalid(
                    f"Unsupported operator: {str(unknown[0])[:40]}. Use {', '.join(OPERATORS)}.",
                    field="filter",
                )
            check_filter(each)


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether each field that is wanted is there and as it is wanted.

    An object within another is wanted field by field, a list as a whole. Numbers are compared with numbers
    and texts with texts; what can't be compared does not match.
    """
    return all(_fits(value.get(key), each) for key, each in wanted.items())


def is_meant(condition: Condition, namespace: Namespace) -> bool:
    """Whether the namespace begins, or ends, as the condition says."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match == "prefix" else namespace[-len(path) :]
    return not path or all(label in {ANY, each} for each, label in zip(part, path, strict=True))


def text_of(namespace: Namespace) -> str:
    """The namespace as it is kept: a period after each label, so that none begins like its neighbor."""
    return "".join(f"{label}{SEPARATOR}" for label in namespace)


def labels_of(text: str) -> Namespace:
    """The labels of a namespace as it is kept."""
    return tuple(text[:-1].split(SEPARATOR))


def labels_in(text: str) -> Namespace:
    """The labels of a namespace as people write it: with periods between them, and nothing for none."""
    return tuple(text.split(SEPARATOR)) if text else ()


def below(namespace: Namespace) -> tuple[str, str]:
    """Between which texts lie all namespaces that begin so: from the first, and before the second."""
    text = text_of(namespace)
    return (text, text[:-1] + _AFTER_SEPARATOR) if text else ("", _LAST)


def _is_operator(key: object) -> bool:
    return isinstance(key, str) and key.startswith("$")


def _fits(there: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(map(_is_operator, wanted)):
            return all(_compares(there, name, each) for name, each in wanted.items())
        return isinstance(there, Mapping) and matches(there, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(there, list) and len(there) == len(wanted) and all(map(_fits, there, wanted))
        )
    return _equal(there, wanted)


def _compares(there: Any, name: str, wanted: Any) -> bool:
    if name == "$eq":
        return _equal(there, wanted)
    if name == "$ne":
        return not _equal(there, wanted)
    comparable = (_is_number(there) and _is_number(wanted)) or (
        isinstance(there, str) and isinstance(wanted, str)
    )
    return comparable and name in _ORDERED and _ORDERED[name](there, wanted)


def _equal(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
