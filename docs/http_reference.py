"""Writes the page about the HTTP API: each route, what it answers, and the errors it may end in."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

from memoranda.app import Memoranda
from memoranda.briefs.models import ContextPolicy
from memoranda.surfaces.http.app import create_app

# A route takes a policy as it comes and judges it when it is used, so its description has no fields.
SAID_ELSEWHERE: dict[str, dict[str, Any]] = {"policy": ContextPolicy.model_json_schema()}

INTRODUCTION = """\
Every route but health takes `Authorization: Bearer KEY`, and the key decides the organization. An
error is a problem document (RFC 9457) with a stable `code`; what each code means is in
[errors](errors.md). What the fields of a policy and a brief mean is in [briefs](briefs.md), and how to
upload a document and search in [knowledge](knowledge.md). How to follow what changes is in
[events](events.md). How often memories may be written and listed is a [setting](settings.md); what is
asked for more often is `too_many_requests`, and `Retry-After` says when to come back. The full description, with every field, is at `/openapi.json` of a running server.
"""


def http_page(made: str) -> str:
    """Every route by room, with its answers and error codes."""
    described = create_app(cast("Memoranda", None)).openapi()  # only its routes are looked at
    schemas = described["components"]["schemas"]
    rooms: defaultdict[str, list[str]] = defaultdict(list)
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            room = operation.get("tags", ["other"])[0]
            rooms[room] += route(f"{method.upper()} {path}", operation, schemas)
    lines = ["# HTTP API", "", made, "", INTRODUCTION]
    for room, routes in rooms.items():
        lines += [f"## {room}", "", *routes]
    return "\n".join(lines).rstrip("\n") + "\n"


def route(name: str, operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    lines = [f"### `{name}`", "", operation.get("description") or operation["summary"], ""]
    asked = [
        f"`{parameter['name']}`"
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    if asked:
        lines += [f"* query: {', '.join(asked)}"]
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        lines += [f"* body ({media_type}): {', '.join(fields(content['schema'], schemas))}"]
        lines += [f"  * {line}" for line in nested("", content["schema"], schemas)]
    for status, answer in operation["responses"].items():
        codes = error_codes(answer)
        lines += [f"* {status}: {', '.join(f'`{code}`' for code in codes) or 'the answer'}"]
    return [*lines, ""]


def fields(schema: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """The names of a body's fields, each with whether it has to be there."""
    named = resolved(schema, schemas)
    required = named.get("required", ())
    return [
        f"`{name}`{' (required)' if name in required else ''}"
        for name in named.get("properties", ())
    ] or ["any"]


def nested(path: str, schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    """A line for each field that has fields of its own, and for theirs."""
    for name, field in resolved(schema, schemas).get("properties", {}).items():
        for each, inner in objects(name, field, schemas):
            whole = f"{path}{name}"
            yield f"`{whole}`{each}: {', '.join(fields(inner, schemas))}"
            yield from nested(f"{whole}.", inner, schemas)


def objects(
    name: str, field: dict[str, Any], schemas: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects that a field may hold, with ", each" where it holds a list of them."""
    for choice in field.get("anyOf", [field]):
        if choice.get("type") == "array":
            yield from ((", each", inner) for _, inner in objects("", choice["items"], schemas))
        elif name in SAID_ELSEWHERE and choice.get("type") == "object":
            yield "", SAID_ELSEWHERE[name]
        elif resolved(choice, schemas).get("properties"):
            yield "", resolved(choice, schemas)


def resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rsplit("/", 1)[-1]
    found: dict[str, Any] = schemas.get(name) or ContextPolicy.model_json_schema()["$defs"][name]
    return found


def error_codes(answer: dict[str, Any]) -> list[str]:
    """The codes that a response's schema narrows its problem document to."""
    return [
        code
        for content in answer.get("content", {}).values()
        for part in content.get("schema", {}).get("allOf", ())
        for code in part.get("properties", {}).get("code", {}).get("enum", ())
    ]
