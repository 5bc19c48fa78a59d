"""What stays of a block whose text is no longer kept: which rows, what became of each, and nothing that they say: pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_SAID: Final = ("title", "excerpt")
"""What an entry of an explain quotes."""


def bare_account(account: Mapping[str, Any]) -> dict[str, Any]:
    """The account of a brief without the labels of the rows that it names."""
    return {**account, "items": [_unlabelled(ref) for ref in account["items"]]}


def bare_explain(entries: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """An explain without what it quotes: outcomes, costs and refs."""
    if entries is None:
        return None
    return [
        {**_bare(each), "lost_to": _bare(each["lost_to"]) if each.get("lost_to") else None}
        for each in entries
    ]


def _bare(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, **dict.fromkeys(_SAID, ""), "ref": _unlabelled(entry.get("ref"))}


def _unlabelled(ref: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if ref is None else {**ref, "label": None}
