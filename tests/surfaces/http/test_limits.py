"""What is sent is bounded, and refused before it can cost anything."""

from collections.abc import AsyncIterator

import pytest

from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.limits import FORM_ROOM
from tests.surfaces.http.house import House, add, furnished

SMALL = Settings(max_upload_bytes=10_000, max_body_bytes=4_096)
FORM = {"Content-Type": "multipart/form-data; boundary=line"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def small_house(sqlite_database: str) -> AsyncIterator[House]:
    """A house with low limits."""
    async with (
        Memoranda.open(sqlite_database, settings=SMALL, migrate=False) as opened,
        furnished(opened) as house,
    ):
        yield house


def endless(sent: list[int], chunk: bytes = b"[" * 1_000) -> AsyncIterator[bytes]:
    """A body that never ends, and the count of what was read of it."""

    async def chunks() -> AsyncIterator[bytes]:
        while len(sent) < 1_000:
            sent.append(len(chunk))
            yield chunk

    return chunks()


async def test_a_body_over_the_limit_is_refused_by_the_length_that_it_states(
    small_house: House,
) -> None:
    body = {"text": "x" * 4_096}
    response = await small_house.owner.post("/v1/memories", body)
    assert (response.status_code, response.json()["code"]) == (413, "over_limit")
    assert response.json()["limit"] == SMALL.max_body_bytes


@pytest.mark.parametrize(
    ("path", "headers", "limit"),
    [
        ("/v1/memories", JSON, SMALL.max_body_bytes),
        ("/v1/knowledge/search", JSON, SMALL.max_body_bytes),
        ("/v1/knowledge/sources", FORM, SMALL.max_upload_bytes + FORM_ROOM),
    ],
)
async def test_a_body_that_never_ends_is_read_to_the_limit_and_no_further(
    small_house: House, path: str, headers: dict[str, str], limit: int
) -> None:
    sent: list[int] = []
    first = b'--line\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    chunk = first + b"x" * 1_000 if headers is FORM else b"[" * 1_000
    response = await small_house.owner.post(path, content=endless(sent, chunk), headers=headers)
    assert (response.status_code, response.json()["code"]) == (413, "over_limit")
    assert sum(sent) <= limit + 2 * len(chunk)


async def test_a_document_just_over_the_limit_is_refused_and_one_just_under_is_taken(
    small_house: House,
) -> None:
    await add(small_house.owner, "x" * SMALL.max_upload_bytes, "fits.txt")
    files = {"file": ("over.txt", "x" * (SMALL.max_upload_bytes + 1))}
    response = await small_house.owner.post("/v1/knowledge/sources", files=files)
    assert response.status_code == 413
    titles = (await small_house.owner.get("/v1/knowledge/sources")).text
    assert "fits.txt" in titles
    assert "over.txt" not in titles


async def test_a_body_of_another_type_is_refused_by_its_name(house: House) -> None:
    for path, headers in (
        ("/v1/memories", {"Content-Type": "text/plain"}),
        ("/v1/memories", {"Content-Type": "application/x-www-form-urlencoded"}),
        ("/v1/memories", {}),
        ("/v1/knowledge/sources", JSON),
        ("/v1/knowledge/sources", {"Content-Type": "application/x-www-form-urlencoded"}),
    ):
        response = await house.owner.post(path, content=b'{"text": "Tea"}', headers=headers)
        assert response.status_code == 415, (path, headers)
        assert response.json()["code"] == "unsupported_media_type"


async def test_a_length_that_is_none_is_refused(house: House) -> None:
    for length in ("-1", "x", "1" * 40, "١"):
        headers = {**JSON, "Content-Length": length.encode()}
        response = await house.owner.post("/v1/memories", content=b"{}", headers=headers)
        assert (response.status_code, response.json()["code"]) == (400, "broken_body"), length


async def test_a_key_is_asked_for_before_a_body_is_read(house: House) -> None:
    sent: list[int] = []
    response = await house.nobody.post("/v1/memories", content=endless(sent), headers=JSON)
    assert response.status_code == 401
    assert not sent


async def test_a_form_field_over_the_limit_is_too_large(house: House) -> None:
    files = {"file": ("a.txt", "Tea")}
    for fields in (
        {"title": "x" * 300_000},
        {"title": "x" * 2_000_000},
        {f"f{number}": "x" for number in range(2_000)},
    ):
        response = await house.owner.post("/v1/knowledge/sources", files=files, data=fields)
        assert (response.status_code, response.json()["code"]) == (413, "over_limit")
    response = await house.owner.post("/v1/knowledge/sources", content=b"--line\r\nx", headers=FORM)
    assert response.status_code in {400, 422}
