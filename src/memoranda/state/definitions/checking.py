"""What an owner writes of a definition, checked before any of it is kept: pure."""

import re
from collections.abc import Sequence
from typing import Final

from memoranda.state.definitions.models import (
    LONGEST_NODE_ID,
    LONGEST_SUMMARY,
    MOST_BODY_BYTES,
    MOST_NODES,
    MOST_TOOLS,
    MOST_VIEWERS,
    DefinitionKind,
    DefinitionText,
    Node,
    Viewers,
)
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_length, check_storable, text_input

_SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
LARGEST_VERSION: Final = 2**31 - 1


def checked(kind: DefinitionKind, text: DefinitionText) -> DefinitionText:
    """The text trimmed, each viewer once. Raises `Invalid` and `OverLimit`, each with its field."""
    if (text.agent_id is not None) != (kind is DefinitionKind.AGENT):
        raise Invalid(
            "A definition of an agent says which agent it is, and no other does.", field="agent_id"
        )
    if text.nodes and kind is not DefinitionKind.WORKFLOW:
        raise Invalid(f"Only a workflow has nodes: leave them out of a {kind}.", field="nodes")
    if text.body and kind is not DefinitionKind.SKILL:
        raise Invalid(f"Only a skill has a body: leave it out of a {kind}.", field="body")
    return DefinitionText(
        name=text_input("name", text.name),
        summary=_summary(text.summary),
        body=_body(text.body),
        agent_id=text.agent_id,
        nodes=_nodes(text.nodes),
        viewers=None if text.viewers is None else _viewers(text.viewers),
    )


def slug_input(slug: str) -> str:
    """The slug. Raises `Invalid` for one that can't stand in an address."""
    if not _SLUG.fullmatch(slug):
        raise Invalid(
            "A slug has 1 to 64 of the characters a-z, 0-9, - and _, and begins and ends with one of a-z and 0-9.",
            field="slug",
        )
    return slug


def version_input(version: int) -> int:
    """The version that a caller has read. Raises `Invalid` for what can be none."""
    if not 1 <= version <= LARGEST_VERSION:
        raise Invalid(
            "expected_version is no version: give the one that was read.", field="expected_version"
        )
    return version


def _summary(summary: str) -> str:
    check_storable("summary", summary)
    check_length("summary", summary.strip(), LONGEST_SUMMARY)
    return summary.strip()


def _body(body: str) -> str:
    check_storable("body", body)
    size = len(body.encode())
    if size > MOST_BODY_BYTES:
        raise OverLimit(
            f"body has {size} bytes of UTF-8 and may have {MOST_BODY_BYTES}: shorten it.",
            field="body",
            limit=MOST_BODY_BYTES,
        )
    return body


def _nodes(nodes: Sequence[Node]) -> list[Node]:
    _check_number("nodes", nodes, MOST_NODES)
    checked_nodes = [_node(f"nodes.{place}", node) for place, node in enumerate(nodes)]
    ids = [node.id for node in checked_nodes]
    for place, each in enumerate(ids):
        if each in ids[:place]:
            field = f"nodes.{place}.id"
            raise Invalid(f"{field} is another node's: give each its own.", field=field)
    return checked_nodes


def _node(field: str, node: Node) -> Node:
    _check_number(f"{field}.tools", node.tools, MOST_TOOLS)
    tools = [text_input(f"{field}.tools.{at}", name) for at, name in enumerate(node.tools)]
    return Node(
        id=text_input(f"{field}.id", node.id, limit=LONGEST_NODE_ID),
        agent=None if node.agent is None else text_input(f"{field}.agent", node.agent),
        tools=list(dict.fromkeys(tools)),
    )


def _viewers(viewers: Viewers) -> Viewers:
    users, agents = dict.fromkeys(viewers.user_ids), dict.fromkeys(viewers.agent_ids)
    _check_number("viewers", [*users, *agents], MOST_VIEWERS)
    return Viewers(user_ids=sorted(users), agent_ids=sorted(agents))


def _check_number(field: str, listed: Sequence[object], most: int) -> None:
    if len(listed) > most:
        raise OverLimit(
            f"{field} lists {len(listed)} and may list {most}: leave some out.",
            field=field,
            limit=most,
        )
