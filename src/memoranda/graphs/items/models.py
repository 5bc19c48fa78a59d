"""What is asked of items, and what is answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

Namespace: TypeAlias = tuple[str, ...]
"""Labels, from the outermost; none is empty or holds a period."""


@dataclass(frozen=True)
class GraphItem:
    """A value under a key of a namespace. `score` says how near a search by meaning found it."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    score: float | None = None


@dataclass(frozen=True)
class GetItem:
    """Ask for the item under a key. With `refresh`, it lives on from now where it would expire."""

    namespace: Namespace
    key: str
    refresh: bool = True


@dataclass(frozen=True)
class PutItem:
    """Let an item have this value; None takes it away.

    `texts` are what a search by meaning finds it by. It expires `ttl_ms` after it was last asked for.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    texts: tuple[str, ...] = ()
    ttl_ms: int | None = None


@dataclass(frozen=True)
class SearchItems:
    """Ask for items below a namespace, the newest first, or the nearest to `query` first."""

    namespace: Namespace = ()
    filter: Mapping[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh: bool = True


@dataclass(frozen=True)
class Condition:
    """What a namespace begins or ends with; the label `*` stands for any one."""

    match: Literal["prefix", "suffix"]
    path: Namespace


@dataclass(frozen=True)
class ListNamespaces:
    """Ask for namespaces that meet all conditions, cut to `max_depth` labels, in their order."""

    conditions: tuple[Condition, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


Operation: TypeAlias = GetItem | PutItem | SearchItems | ListNamespaces
Answer: TypeAlias = GraphItem | list[GraphItem] | list[Namespace] | None
