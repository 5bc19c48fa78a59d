"""The description of the API tells every operation, what it answers, and every error that it may end in."""

from typing import Any, cast

import pytest

from memoranda.app import Memoranda
from memoranda.surfaces.http.app import ROOMS, create_app
from memoranda.surfaces.http.operation import Operation, PublicOperation
from memoranda.surfaces.http.problems import MEDIA_TYPE, STATUS_BY_CODE, STATUS_BY_KIND
from memoranda.words.errors import error_types
from tests.surfaces.http.contract import LINES, STREAM, Description
from tests.surfaces.http.house import House
from tests.surfaces.http.walk import STEPS

FIXED = {
    "POST /v1/knowledge/sources",
    "GET /v1/knowledge/sources",
    "GET /v1/knowledge/sources/{source_id}",
    "POST /v1/knowledge/sources/{source_id}/retry",
    "DELETE /v1/knowledge/sources/{source_id}",
    "POST /v1/knowledge/search",
    "POST /v1/memories",
    "GET /v1/memories",
    "GET /v1/memories/{memory_id}",
    "GET /v1/memories/{memory_id}/history",
    "POST /v1/memories/{memory_id}/forget",
    "POST /v1/briefs",
    "POST /v1/policies",
    "GET /v1/policies",
    "GET /v1/policies/{name}",
    "POST /v1/conversations",
    "GET /v1/conversations",
    "GET /v1/conversations/{conversation_id}",
    "POST /v1/conversations/{conversation_id}/messages",
    "GET /v1/conversations/{conversation_id}/messages",
    "POST /v1/runs",
    "GET /v1/runs/{run_id}",
    "GET /v1/runs/{run_id}/logs",
    "GET /v1/activities",
    "GET /v1/events",
    "POST /v1/organizations",
    "GET /v1/organizations",
    "POST /v1/users",
    "GET /v1/users",
    "POST /v1/agents",
    "GET /v1/agents",
    "POST /v1/keys",
    "GET /v1/keys",
    "POST /v1/keys/{key_id}/revoke",
    "GET /healthz",
    "GET /readyz",
}

Operations = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The description, which needs no opened product."""
    return create_app(cast(Memoranda, None)).openapi()


@pytest.fixture(scope="module")
def operations(described: dict[str, Any]) -> Operations:
    return Description(described).operations


def errors_of(operation: dict[str, Any]) -> dict[str, set[str]]:
    """The codes that an operation tells, by status."""
    return {
        status: set(
            answer["content"][MEDIA_TYPE]["schema"]["allOf"][1]["properties"]["code"]["enum"]
        )
        for status, answer in operation["responses"].items()
        if status >= "400"
    }


def test_a_page_is_named_after_what_it_holds(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    pages = {name for name in schemas if "Page" in name}
    answer = described["paths"]["/v1/memories"]["get"]["responses"]["200"]["content"]
    assert answer["application/json"]["schema"] == {"$ref": "#/components/schemas/MemoryPage"}
    assert schemas["MemoryPage"]["title"] == "MemoryPage"
    held = {"Activity", "Agent", "Conversation", "Key", "Memory", "Organization", "Proposal"}
    tools = ("Approval", "ToolCall", "ToolPolicy", "ToolSpace", "Definition", "FileProposal")
    later = ("ArchivedMessage", "Chat", "ChatRun", "Compaction", "Message", "Note", "Waiting")
    graphs = ("CheckpointSummary", "GraphNamespace", "GraphThread", "ItemSummary")
    kept = ("Event", "KeptBranch", "KeptEntry", "KeptHistory", "KeptSession", "KeptState")
    others = (*graphs, *kept, "Run", "RunLog", "Source", "User")
    assert pages == {f"{name}Page" for name in (*held, *tools, *later, *others)}


def test_the_names_that_callers_build_on_are_there(operations: Operations) -> None:
    assert set(operations) >= FIXED


async def test_it_is_served_to_anybody_as_openapi_3_1(house: House) -> None:
    response = await house.nobody.get("/openapi.json")
    assert response.json() == house.contract.described
    assert response.json()["openapi"].startswith("3.1")


def test_every_route_is_one_of_ours_and_is_described(operations: Operations) -> None:
    routes = [route for room in ROOMS for route in room.routes]
    assert [route for route in routes if not isinstance(route, Operation)] == []
    named = {
        f"{method} {route.path}"
        for route in routes
        if isinstance(route, Operation)
        for method in route.methods or ()
    }
    assert named == set(operations)


def test_no_two_operations_share_an_id(operations: Operations) -> None:
    identities = [operation["operationId"] for operation in operations.values()]
    assert len(set(identities)) == len(identities)


def test_every_operation_says_what_it_does_and_what_it_answers(
    operations: Operations,
) -> None:
    for name, operation in operations.items():
        assert operation["description"].endswith("."), name
        successes = {s: a for s, a in operation["responses"].items() if s < "300"}
        assert len(successes) == 1, name
        ((status, answer),) = successes.items()
        if status != "204" and not {STREAM, LINES} & set(answer["content"]):
            assert "$ref" in answer["content"]["application/json"]["schema"], name


def test_every_operation_tells_the_errors_that_its_shape_implies(
    operations: Operations,
) -> None:
    public = {
        f"{method} {route.path}"
        for room in ROOMS
        for route in room.routes
        if isinstance(route, PublicOperation)
        for method in route.methods or ()
    }
    assert public == {"GET /healthz", "GET /readyz"}
    for name, operation in operations.items():
        errors = errors_of(operation)
        assert errors["500"] == {"internal_error"}, name
        if name in public:
            continue
        assert operation["security"] == [{"key": []}], name
        assert "unauthenticated" in errors["401"], name
        assert "refused" in errors["403"], name
        assert "invalid_input" in errors["422"], name
        assert {"storage_busy", "storage_unavailable"} <= errors["503"], name
        if "requestBody" in operation:
            assert "broken_body" in errors["400"], name
            assert "over_limit" in errors["413"], name
            assert "unsupported_media_type" in errors["415"], name
        if "{" in name:
            assert "not_found" in errors["404"], name


def test_every_write_tells_that_a_read_only_key_may_not(operations: Operations) -> None:
    for name, steps in STEPS.items():
        if steps[0].roles and "read_only" not in steps[0].roles:
            assert "read_only" in errors_of(operations[name])["403"], name


def test_every_code_stands_under_the_status_of_the_one_table(operations: Operations) -> None:
    kinds = {error.code: error.kind for error in error_types()}
    for operation in operations.values():
        for status, codes in errors_of(operation).items():
            for code in codes:
                assert int(status) == STATUS_BY_CODE.get(code, STATUS_BY_KIND[kinds[code]])


def test_every_error_is_described_in_words(operations: Operations) -> None:
    for operation in operations.values():
        for status, codes in errors_of(operation).items():
            for code in codes:
                assert f"`{code}`: " in operation["responses"][status]["description"]


def test_every_body_refuses_what_it_does_not_know(
    operations: Operations, described: dict[str, Any]
) -> None:
    for name, operation in operations.items():
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            reference = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
            schema = described["components"]["schemas"][reference]
            assert schema["additionalProperties"] is False, name


def test_no_schema_of_the_framework_is_left(described: dict[str, Any]) -> None:
    assert not {"HTTPValidationError", "ValidationError"} & set(described["components"]["schemas"])
