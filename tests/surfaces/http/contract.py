"""Holds every answer that a test receives to the API's own description."""

import json
import re
from collections import defaultdict
from functools import cache
from typing import Any, cast

import httpx
import jsonschema_rs

from memoranda.app import Memoranda
from memoranda.surfaces.http.app import create_app
from memoranda.surfaces.http.problems import MEDIA_TYPE

STREAM = "text/event-stream"
LINES = "application/jsonl"
METHODS = ("get", "post", "put", "patch", "delete")


def spelled(url: httpx.URL) -> str:
    """The path of an address as it was sent: a slash that is spelled out is part of an id."""
    return url.raw_path.partition(b"?")[0].decode("ascii")


class Description:
    """An API's description, read once: to make it, and to find one's way in it, takes longer than most requests."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.described = described
        self.operations = {
            f"{method.upper()} {path}": operation
            for path, item in described["paths"].items()
            for method, operation in item.items()
            if method in METHODS
        }
        self._patterns = {
            name: re.compile(re.sub(r"\{\w+\}", "[^/]+", name)) for name in self.operations
        }
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    def operation_of(self, method: str, path: str) -> str | None:
        """The operation that answers there: `GET /v1/runs/{run_id}`."""
        fitting = [
            name
            for name, pattern in self._patterns.items()
            if pattern.fullmatch(f"{method} {path}")
        ]
        return min(fitting, key=lambda name: name.count("{"), default=None)

    def validate(self, schema: dict[str, Any], value: object) -> None:
        """Fail where `value` is not what the schema says."""
        key = json.dumps(schema)
        if key not in self._validators:
            whole = {**schema, "components": self.described["components"]}
            self._validators[key] = jsonschema_rs.validator_for(whole, validate_formats=True)
        self._validators[key].validate(value)


@cache
def description() -> Description:
    """The product's own, which needs no opened one."""
    return Description(create_app(cast(Memoranda, None)).openapi())


class Contract:
    """What answers are held to, and which problem codes each operation was seen to answer with."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self.described = description.described
        self.operations = description.operations
        self.operation_of = description.operation_of
        self.validate = description.validate
        self.seen: defaultdict[str, set[str]] = defaultdict(set)

    def check(self, response: httpx.Response) -> None:
        """Fail for a status, media type, body or code that the description does not tell."""
        assert response.status_code != 500, f"a defect: {response.request.url}"
        name = self.operation_of(response.request.method, spelled(response.request.url))
        if name is None and response.is_success:
            assert response.request.url.path == "/openapi.json"
            return
        if name is None:
            self._check_problem(response, {"unknown_route", "method_not_allowed", "not_found"})
            return
        told = self.operations[name]["responses"]
        assert str(response.status_code) in told, (
            f"{name} does not tell of {response.status_code}: {response.text[:300]}"
        )
        self._check_body(name, response, told[str(response.status_code)])

    def _check_body(self, name: str, response: httpx.Response, told: dict[str, Any]) -> None:
        if "content" not in told:
            assert response.content == b""
            return
        ((media_type, content),) = told["content"].items()
        assert response.headers["content-type"].partition(";")[0] == media_type
        if media_type in {STREAM, LINES}:
            return
        self.validate(content["schema"], response.json())
        if response.is_error:
            assert media_type == MEDIA_TYPE
            self._check_problem(
                response, set(content["schema"]["allOf"][1]["properties"]["code"]["enum"])
            )
            self.seen[name].add(response.json()["code"])

    def _check_problem(self, response: httpx.Response, codes: set[str]) -> None:
        assert response.headers["content-type"] == MEDIA_TYPE
        problem = response.json()
        assert problem["status"] == response.status_code
        assert problem["code"] in codes, f"{problem['code']} is not told: {problem}"
        assert problem["type"] == f"urn:memoranda:problem:{problem['code']}"
        assert problem["title"]
        assert re.search(r"[.:;!?]|\w$", problem["detail"])
