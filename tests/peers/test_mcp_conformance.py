"""The protocol's own conformance tool against the server, and what of it concerns us."""

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from memoranda.access.models import Principal, Role
from memoranda.surfaces.mcp.door import Room
from memoranda.surfaces.mcp.server import make_server
from memoranda.surfaces.mcp.streamable import Endpoint
from memoranda.tools.models import Course, Decision, Effect, ToolOffer, ToolResult
from tests.peers.node import installed, node
from tests.peers.relay import Relay, served
from tests.surfaces.mcp.served import live_mcp
from tests.surfaces.mcp.tenants import Two, two_organizations

PACKAGE, VERSION = "@modelcontextprotocol/conformance", "0.1.16"

REAL = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "server-sse-polling",
)
"""Pass against the server as it is."""
RENAMED = (
    "tools-call-simple-text",
    "tools-call-error",
    "resources-read-text",
    "resources-templates-read",
)
"""Pass against the server once their fixtures' names lead to something that it has."""
FIXTURE = ("json-schema-2020-12",)
"""Pass against our server with a tool that only the scenario has."""
NOT_OFFERED = {
    "logging": ("logging-set-level", "tools-call-with-logging"),
    "completion": ("completion-complete",),
    "content other than text": (
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "resources-read-binary",
    ),
    "progress": ("tools-call-with-progress",),
    "sampling": ("tools-call-sampling",),
    "elicitation": (
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    ),
    "subscriptions": ("resources-subscribe", "resources-unsubscribe"),
    "prompts": (
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ),
}
"""Concern what the server does not offer, and says so by its capabilities."""

pytestmark = pytest.mark.slow


def run(*words: object) -> str:
    program = installed(PACKAGE, VERSION) / "dist" / "index.js"
    ended = subprocess.run(
        [node(), program, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=180,
    )
    return ended.stdout + ended.stderr


def checks(url: str, scenario: str, folder: Path) -> list[dict[str, Any]]:
    """What the tool found in one scenario."""
    told = run("server", "--url", f"{url}/mcp", "--scenario", scenario, "--output-dir", folder)
    [found] = folder.glob("**/checks.json")
    read: list[dict[str, Any]] = json.loads(found.read_text())
    assert read, told
    return read


def passed(url: str, scenario: str, folder: Path) -> set[str]:
    """The ids of what passed; nothing may have failed."""
    found = checks(url, scenario, folder)
    assert not [check for check in found if check["status"] == "FAILURE"], found
    return {check["id"] for check in found if check["status"] == "SUCCESS"}


@pytest.fixture
def real(database_url: str) -> Iterator[str]:
    """The served product, with a key for who sends none, and with names that the tool's fixtures have."""
    two: Two = asyncio.run(two_organizations(database_url))
    uri = {"uri": f"memoranda://memories/{two.memories['everyone']}"}
    names = {
        "test_simple_text": {"name": "get", "arguments": {"memory_id": two.memories["everyone"]}},
        "test_error_handling": {"name": "get", "arguments": {"memory_id": "none"}},
        "test://static-text": uri,
        "test://template/123/data": {"uri": f"memoranda://memories/{two.memories['123']}"},
    }
    with (
        live_mcp(database_url) as live,
        served(Relay(live.url, two.acme.keys["owner"], names)) as url,
    ):
        yield url


def test_every_scenario_of_the_tool_is_accounted_for() -> None:
    told = re.findall(r"^  - (\S+)", run("list", "--server"), re.MULTILINE)
    ours = [*REAL, *RENAMED, *FIXTURE, *(name for names in NOT_OFFERED.values() for name in names)]
    assert sorted(ours) == sorted(told)


@pytest.mark.parametrize("scenario", REAL)
def test_the_server_passes_what_concerns_it(real: str, scenario: str, tmp_path: Path) -> None:
    found = passed(real, scenario, tmp_path)
    # A server that keeps no session is only warned that there is nothing to try.
    assert found or scenario.startswith("server-sse")


@pytest.mark.parametrize("scenario", RENAMED)
def test_the_server_passes_what_names_fixtures_once_the_names_are_its_own(
    real: str, scenario: str, tmp_path: Path
) -> None:
    found = checks(real, scenario, tmp_path)
    assert [check["status"] for check in found] == ["SUCCESS"]
    result = found[0].get("details", {}).get("result")
    if scenario == "tools-call-simple-text":
        assert result["isError"] is False
        assert result["structuredContent"]["content"] == "The word is everyone."
    if scenario == "tools-call-error":
        assert result["structuredContent"]["code"] == "invalid_input"


@pytest.mark.parametrize("scenario", FIXTURE)
def test_our_server_passes_what_needs_a_tool_that_only_the_scenario_has(
    scenario: str, tmp_path: Path
) -> None:
    with served(fixture_server()) as url:
        assert len(passed(url, scenario, tmp_path)) == 4


OFFER = ToolOffer(
    name="json_schema_2020_12_tool",
    description="A tool whose schema uses more of JSON Schema.",
    effect=Effect.READS,
    decision=Decision.ALLOW,
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}}}},
        "properties": {"address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
    answer_schema={"type": "object"},
)


class FixtureDoor:
    """Offers one tool, to anybody."""

    def greeted(self) -> None: ...

    async def enter(self, _: object) -> Room:
        who = Principal(organization_id=None, role=Role.READ_ONLY)
        return Room(who, self, cast("Any", None))

    async def offers(self, _: object) -> list[ToolOffer]:
        return [OFFER]

    async def call(
        self,
        _: Principal,
        name: str,
        __: object,
        *,
        key: str | None = None,
        course: Course | None = None,
    ) -> ToolResult:
        del key, course
        return ToolResult(tool=name, answer={}, refusal=None)


def fixture_server() -> Starlette:
    endpoint = Endpoint(make_server(FixtureDoor()), host="127.0.0.1", most_bytes=100_000)
    return Starlette(
        routes=[Route("/mcp", endpoint)],
        lifespan=lambda _: cast("AbstractAsyncContextManager[None]", endpoint.running()),
    )
