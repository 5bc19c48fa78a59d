"""Writes the page about the HTTP API: each route, what it answers, and the errors it may end in."""

from collections import defaultdict
from typing import Any, cast

from memoranda.app import Memoranda
from memoranda.surfaces.http.app import create_app

INTRODUCTION = """\
Every route but health takes `Authorization: Bearer KEY`, and the key decides the organization. An
error is a problem document (RFC 9457) with a stable `code`; what each code means is in
[errors](errors.md). The full description, with every field, is at `/openapi.json` of a running server.
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
    for status, answer in operation["responses"].items():
        codes = error_codes(answer)
        lines += [f"* {status}: {', '.join(f'`{code}`' for code in codes) or 'the answer'}"]
    return [*lines, ""]


def fields(schema: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """The names of a body's fields, each with whether it has to be there."""
    named = schemas[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema
    required = named.get("required", ())
    return [
        f"`{name}`{' (required)' if name in required else ''}"
        for name in named.get("properties", ())
    ] or ["any"]


def error_codes(answer: dict[str, Any]) -> list[str]:
    """The codes that a response's schema narrows its problem document to."""
    return [
        code
        for content in answer.get("content", {}).values()
        for part in content.get("schema", {}).get("allOf", ())
        for code in part.get("properties", {}).get("code", {}).get("enum", ())
    ]
