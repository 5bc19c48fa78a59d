"""Definitions of agents, workflows and skills."""

from collections.abc import Sequence

from memoranda.client.call import Call, Id, given
from memoranda.state.definitions.models import Definition, DefinitionKind, Node, Viewers
from memoranda.words.page import Page


def create_definition(
    name: str,
    kind: DefinitionKind,
    slug: str,
    *,
    summary: str = "",
    body: str = "",
    agent_id: Id | None = None,
    nodes: Sequence[Node] = (),
    viewers: Viewers | None = None,
) -> Call[Definition]:
    """Make a definition, which no run is told of before it is published."""
    return Call(
        "POST",
        "/v1/definitions",
        Definition,
        body=given(
            name=name,
            summary=summary,
            body=body,
            agent_id=agent_id,
            nodes=nodes,
            viewers=viewers,
            kind=kind,
            slug=slug,
        ),
    )


def list_definitions(
    *, kind: DefinitionKind | None = None, cursor: str | None = None, limit: int = 50
) -> Call[Page[Definition]]:
    """List definitions, the newest first: all for owners and readers, for others what is published for them."""
    return Call(
        "GET",
        "/v1/definitions",
        Page[Definition],
        query=given(kind=kind, cursor=cursor, limit=limit),
    )


def get_definition(definition_id: Id) -> Call[Definition]:
    """Get a definition."""
    return Call(
        "GET", "/v1/definitions/{definition_id}", Definition, at={"definition_id": definition_id}
    )


def update_definition(
    definition_id: Id,
    name: str,
    expected_version: int,
    *,
    summary: str = "",
    body: str = "",
    agent_id: Id | None = None,
    nodes: Sequence[Node] = (),
    viewers: Viewers | None = None,
) -> Call[Definition]:
    """Say all of a definition anew; its kind, its slug and whether it is published stay."""
    return Call(
        "PUT",
        "/v1/definitions/{definition_id}",
        Definition,
        at={"definition_id": definition_id},
        body=given(
            name=name,
            summary=summary,
            body=body,
            agent_id=agent_id,
            nodes=nodes,
            viewers=viewers,
            expected_version=expected_version,
        ),
    )


def remove_definition(definition_id: Id) -> Call[None]:
    """Take a definition away."""
    return Call(
        "DELETE", "/v1/definitions/{definition_id}", type(None), at={"definition_id": definition_id}
    )


def publish_definition(definition_id: Id) -> Call[Definition]:
    """Let runs be told of a definition from now on."""
    return Call(
        "POST",
        "/v1/definitions/{definition_id}/publish",
        Definition,
        at={"definition_id": definition_id},
    )


def unpublish_definition(definition_id: Id) -> Call[Definition]:
    """Tell runs of a definition no more."""
    return Call(
        "POST",
        "/v1/definitions/{definition_id}/unpublish",
        Definition,
        at={"definition_id": definition_id},
    )
