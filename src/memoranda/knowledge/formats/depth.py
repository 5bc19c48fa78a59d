"""How deep markup nests, seen before it is parsed."""

import re
from typing import Final

from memoranda.knowledge.errors import NestedTooDeeply
from memoranda.knowledge.formats.bounds import Bounds

_TAG = re.compile(r"<(?:!--|(/?)([a-zA-Z][^\s/>]*))")
# These may stand open: the parser closes them, or they hold nothing.
_CLOSE_BY_THEMSELVES: Final = frozenset(
    [
        "p",
        "li",
        "dt",
        "dd",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
        "tfoot",
        "option",
        "optgroup",
        "colgroup",
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "html",
        "head",
        "body",
        "rt",
        "rp",
    ]
)


def check_depth(html: str, bounds: Bounds) -> None:
    """Refuse what nests without end: the parser takes the square of its depth."""
    depth, seen = 0, 0
    while tag := _TAG.search(html, seen):
        seen = tag.end()
        if tag[2] is None:
            seen = html.find("-->", seen)
            if seen < 0:  # to its end the page is a comment
                return
        elif tag[2].lower() not in _CLOSE_BY_THEMSELVES:
            depth = max(0, depth - 1) if tag[1] else depth + 1
            if depth > bounds.depth:
                raise too_deep(bounds)


def too_deep(bounds: Bounds) -> NestedTooDeeply:
    return NestedTooDeeply(
        f"The page nests its elements more than {bounds.depth:,} deep. Save what it says as text.",
        limit=bounds.depth,
    )
