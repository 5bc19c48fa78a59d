"""Any bytes to any route are answered with a 4xx that says what to do, and leave nothing behind."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.surfaces.http.contract import Contract, Description, spelled
from tests.surfaces.http.house import Api, House, Rows, with_calls
from tests.surfaces.http.test_tenancy import everything
from tests.surfaces.http.walk import STEPS


@pytest.fixture
async def house(house: House) -> House:
    return await with_calls(house)


HOSTILE: list[object] = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**400,
    -(10**400),
    1e308,
    0.5,
    "",
    " \u2028\t",
    "\0",
    "a\0b",
    "\ud800",
    "\u202e\u2066\ufeff",
    "x" * 1_000_000,
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2026-02-30T25:61:61+99:99",
    "2026-01-01T00:00:00",
    "00000000-0000-0000-0000-000000000000",
    "urn:uuid:not-one",
    [],
    [None],
    ["\0"],
    [[[[]]]],
    list(range(5_000)),
    {},
    {"\ud800": "\udfff"},
    {"a": {"b": {"c": None}}},
    {"n": 10**400},
]

BROKEN = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"17",
    b"{'text': 1}",
    b'{"text": NaN}',
    b'{"text": 1e999}',
    b"[" * 200_000,
    b'{"a":' * 1_000 + b"1" + b"}" * 1_000,
    b"\xff\xfe\x00",
    b"\x89PNG\r\n\x1a\n\x00\x00",
    '{"text": "Tea"}'.encode("utf-16"),
    b'{"text": "' + b"9" * 100_000,
]

IN_PATH = ["%00", "a%00b", "%ff%fe", "..", "%2e%2e%2f", "x" * 5_000, "%F0%9F%92%A5", "-1", "%20"]
IN_QUERY = ["", "\0", "\ud800", "-1", "0", "1e9", "9" * 400, "x" * 5_000, "💥", "null", "'"]


class Recorder(Api):
    """Notes what a step would send, and sends nothing."""

    def __init__(self) -> None:
        super().__init__(httpx.AsyncClient(), Contract(Description({"paths": {}})), None)
        self.sent: list[dict[str, Any]] = []

    async def send(self, method: str, path: str, **sent: Any) -> httpx.Response:
        self.sent.append({"method": method, "path": path, **sent})
        return httpx.Response(204)


async def bodies(rows: Rows) -> dict[str, list[dict[str, Any]]]:
    """What the walk sends to each operation that reads JSON: the last request of each step, which others may lead to."""
    noted: dict[str, list[dict[str, Any]]] = {}
    for name, steps in STEPS.items():
        sent = []
        for step in steps:
            recorder = Recorder()
            await step.call(recorder, rows)
            sent.append(recorder.sent[-1])
        if sent[0].get("json") is not None:
            noted[name] = sent
    return noted


def fields_of(contract: Contract, name: str) -> list[str]:
    content = contract.operations[name]["requestBody"]["content"]
    reference = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return list(contract.described["components"]["schemas"][reference]["properties"])


async def test_hostile_values_in_any_field_never_break_a_route(house: House) -> None:
    for name, sent in (await bodies(house.rows)).items():
        for field in fields_of(house.contract, name):
            for value in HOSTILE:
                body = json.dumps({**sent[0]["json"], field: value})
                response = await house.by_role[role_for(name)].send(
                    sent[0]["method"],
                    sent[0]["path"],
                    content=body,
                    headers={"Content-Type": "application/json"},
                )
                # Every answer was held to the description, in which 500 is a defect.
                assert response.status_code < 500, (name, field, repr(value)[:40])


def role_for(name: str) -> str:
    return "operator" if name.endswith("/v1/organizations") else "owner"


async def test_what_is_no_body_is_refused_and_changes_nothing(house: House) -> None:
    before = await everything(house.owner, house.rows)
    for name, sent in (await bodies(house.rows)).items():
        needed = house.contract.operations[name]["requestBody"].get("required", False)
        for body in BROKEN if needed else filter(None, BROKEN):
            response = await house.by_role[role_for(name)].send(
                sent[0]["method"],
                sent[0]["path"],
                content=body,
                headers={"Content-Type": "application/json"},
            )
            assert response.status_code in {400, 422}, (name, body[:20])
    assert await everything(house.owner, house.rows) == before


async def test_an_unknown_field_is_refused_at_its_name(house: House) -> None:
    for name, sent in (await bodies(house.rows)).items():
        body = {**sent[0]["json"], "organization_id": house.rows.user}
        api = house.by_role[role_for(name)]
        response = await api.send(sent[0]["method"], sent[0]["path"], json=body)
        assert response.status_code == 422, name
        assert ["body", "organization_id"] in [e["path"] for e in response.json()["errors"]]


async def test_hostile_paths_are_not_found(house: House) -> None:
    for name in house.contract.operations:
        method, _, path = name.partition(" ")
        if "{" in path:
            before, _, rest = path.partition("{")
            for text in IN_PATH:
                response = await house.owner.send(method, before + text + rest.partition("}")[2])
                # `..` leads up before it is sent, and may meet the list that a row is in.
                met = house.contract.operation_of(method, spelled(response.request.url))
                told = response.status_code in {404, 405, 415, 422}
                assert told or met not in {None, name}, (name, text)


async def test_hostile_queries_never_break_a_route(house: House) -> None:
    known = await bodies(house.rows)
    for name, path, parameter in queries(house):
        for text in IN_QUERY:
            query = httpx.QueryParams({parameter: escaped(text)})
            response = await asked(house, known, name, f"{path}?{query}")
            assert response.status_code < 500, (name, parameter, text)


async def test_a_nul_in_a_query_is_refused(house: House) -> None:
    known = await bodies(house.rows)
    for name, path, parameter in queries(house):
        for text in ("%00", "a%00b"):
            response = await asked(house, known, name, f"{path}?{parameter}={text}")
            assert response.status_code == 422, (name, parameter)


async def asked(
    house: House, known: Mapping[str, list[dict[str, Any]]], name: str, address: str
) -> httpx.Response:
    """What the operation answers there; one that takes a body is given one that it can read."""
    method = name.partition(" ")[0]
    body: dict[str, Any] = {} if method == "GET" else {"content": b"Likes tea.\n"}
    if name in known:
        body = {"json": known[name][0]["json"]}
    return await house.by_role[role_for(name)].send(method, address, **body)


def queries(house: House) -> Iterator[tuple[str, str, str]]:
    """Each operation with a query, the path of one of its rows, and each name in its query."""
    for name, operation in house.contract.operations.items():
        path = name.partition(" ")[2].replace("{run_id}", house.rows.run)
        path = path.replace("{conversation_id}", house.rows.conversation)
        path = path.replace("{name}", house.rows.policy)
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "query":
                yield name, path, parameter["name"]


def escaped(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


async def test_a_refusal_repeats_nothing_of_what_was_sent(house: House) -> None:
    secret = "swordfish-4711"
    for name, sent in (await bodies(house.rows)).items():
        for field in fields_of(house.contract, name):
            api = house.by_role[role_for(name)]
            body = {**sent[0]["json"], field: {"a": secret}}
            response = await api.send(sent[0]["method"], sent[0]["path"], json=body)
            if response.status_code == 422 and response.json()["code"] == "invalid_input":
                assert secret not in response.text, (name, field)


WRONG_FORMS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({}, {"title": "No file"}),
    ({"file": ("a.md", b"x")}, {"kind": "novel"}),
    ({"file": ("a.md", b"x")}, {"title": "a\0b"}),
    ({"file": ("a.md", b"x")}, {"uri": "a\0b"}),
    ({"file": ("a.md", b"x")}, {"object_key": "a\0b"}),
    ({"file": ("a.md", b"x")}, {"organization_id": "1"}),
    ({"file": ("a.md", b"x"), "other": ("b.md", b"y")}, {}),
    ({"file": ("a.md", b"x")}, {"platform": "perhaps"}),
    ({"file": ("", b"x")}, {}),
]


async def test_a_form_that_is_wrong_is_refused_and_nothing_is_kept(house: House) -> None:
    before = (await house.owner.get("/v1/knowledge/sources")).json()
    for files, data in WRONG_FORMS:
        response = await house.owner.post("/v1/knowledge/sources", files=files, data=data)
        assert response.status_code in {415, 422}, (files, data)
    assert (await house.owner.get("/v1/knowledge/sources")).json() == before


BROKEN_FORMS = [
    ("multipart/form-data", b"--x\r\n"),
    ("multipart/form-data; boundary=x", b""),
    ("multipart/form-data; boundary=x", b"no lines at all"),
    ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: none\r\n\r\na\r\n--x--"),
    ("multipart/form-data; boundary=x; charset=utf-7", b"--x\r\n\r\n--x--"),
    ("multipart/form-data; boundary=" + "x" * 5_000, b"--"),
]


async def test_a_form_that_is_broken_is_refused(house: House) -> None:
    for content_type, body in BROKEN_FORMS:
        response = await house.owner.post(
            "/v1/knowledge/sources", content=body, headers={"Content-Type": content_type}
        )
        assert response.status_code in {400, 422}, (content_type, body)


async def test_an_unknown_path_is_a_problem_like_any_other(house: House) -> None:
    for path in ("/", "/v1", "/v1/", "/v1/nothing", "/v1/memories/", "//v1/memories"):
        response = await house.owner.get(path)
        assert (response.status_code, response.json()["code"]) == (404, "unknown_route"), path


async def test_a_method_that_a_path_does_not_answer_is_told_which_it_does(house: House) -> None:
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"):
        response = await house.owner.send(method, "/v1/memories")
        assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
        assert response.headers["allow"]


async def test_a_misspelled_filter_is_refused_and_not_ignored(house: House) -> None:
    for name in house.contract.operations:
        path = name.partition(" ")[2]
        if name.startswith("GET /v1/") and "{" not in path:
            api = house.by_role[role_for(name)]
            response = await api.get(path, params={"user": house.rows.user})
            assert response.status_code == 422, name
            assert [error["path"] for error in response.json()["errors"]] == [["query", "user"]]
