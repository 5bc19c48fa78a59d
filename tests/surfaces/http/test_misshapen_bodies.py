"""What is wrong with a body is told in our words: the field, what belongs there, and nothing of what was sent."""

import re
from collections.abc import Iterator
from typing import Any, Final

from tests.surfaces.http.house import House

SENT: Final = "xyzzy-secret"
NOT_OURS: Final = re.compile(
    r"input should|should (?:be|have|match)|field required|extra inputs|value error|valid \w+,",
    re.IGNORECASE,
)
WRONG: Final[tuple[object, ...]] = (
    *(SENT, 17.25, True, None, [SENT], [[SENT]], {SENT: SENT}, [{"kind": SENT}], 10**30, ""),
    *("2026-02-30T25:61", [SENT] * 300),
)


def bodies(document: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Each route that reads JSON: its method, its path, and the fields of its body."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            name = schema.get("$ref", "").rpartition("/")[2]
            if name:
                yield (
                    method.upper(),
                    path,
                    list(document["components"]["schemas"][name]["properties"]),
                )


async def test_each_wrong_field_of_each_body_is_named_in_our_words(house: House) -> None:
    document = (await house.nobody.get("/openapi.json")).json()
    routes = list(bodies(document))
    assert len(routes) > 20
    told, foreign = set(), set()
    for method, path, fields in routes:
        address = re.sub(r"\{\w+\}", "01890000-0000-7000-8000-000000000001", path)
        for field in fields:
            for wrong in WRONG:
                response = await house.owner.send(method, address, json={field: wrong})
                if response.status_code != 422 or "errors" not in response.json():
                    continue
                problem = response.json()
                for error in problem["errors"]:
                    sentence = error["message"]
                    if NOT_OURS.search(sentence) or not sentence.endswith("."):
                        foreign.add((method, path, field, str(wrong)[:40], sentence))
                    assert error["path"], (method, path, field)
                    assert SENT not in sentence, (method, path, field, sentence)
                    told.add(sentence)
                first = problem["errors"][0]["path"]
                assert ".".join(map(str, first[1:] or first)) in problem["detail"]
                assert problem["errors"][0]["message"] in problem["detail"]
    assert sorted(foreign) == []
    assert "This must be a text." in told


async def test_a_field_that_is_missing_or_unknown_or_wrong_is_told_with_what_to_do(
    house: House,
) -> None:
    missing = await house.owner.post("/v1/memories", {})
    assert missing.json()["detail"] == (
        "The request is not right. text: This is missing; it has to be there."
    )
    unknown = await house.owner.post("/v1/memories", {"text": "Tea.", "colour": SENT})
    assert "colour: There is no such field; leave it out." in unknown.json()["detail"]
    assert SENT not in unknown.text
    broken = await house.owner.send("POST", "/v1/memories", json=[SENT])
    assert "body: This must be an object." in broken.json()["detail"]
    limit = await house.owner.get("/v1/memories?limit=9999")
    assert "query.limit: This must be at most 200." in limit.json()["detail"]
