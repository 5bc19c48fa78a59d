"""What the pages show to copy is accepted as it stands there."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import httpx
import psycopg
import pytest
from typer.main import get_command

from docs import cli_reference
from memoranda.app import Memoranda
from memoranda.briefs.policies import check_policy
from memoranda.surfaces.cli.app import app
from memoranda.surfaces.http.app import create_app
from tests.postgres import ADMIN, Postgres

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """Each block of that language, with the page that it is on."""
    return [
        (page.relative_to(ROOT).as_posix(), text)
        for page in PAGES
        for text in re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    ]


def shell_lines(program: str) -> list[tuple[str, list[str]]]:
    """The words of each command of `program` that a page shows."""
    lines = [
        (page, line)
        for page, text in blocks("sh")
        for line in text.replace("\\\n", " ").splitlines()
        if line.startswith(f"{program} ")
    ]
    return [(page, shlex.split(line, comments=True)) for page, line in lines]


def test_every_policy_on_a_page_may_be_published() -> None:
    policies = [text for _, text in blocks("json") if '"total_token_budget"' in text]
    assert policies
    for policy in policies:
        check_policy(json.loads(policy))


async def test_every_request_on_a_page_is_answered(sqlite_database: str) -> None:
    requests = shell_lines("curl")
    assert requests
    async with Memoranda.open(sqlite_database, migrate=False) as memoranda:
        made = await memoranda.access.create_key(memoranda.owner, "owner")
        transport = httpx.ASGITransport(create_app(memoranda))
        async with httpx.AsyncClient(transport=transport, base_url="http://m.test") as client:
            for page, words in requests:
                answer = await send(client, words, made.key)
                assert answer.status_code < 300, f"{page}: {answer.text}"


async def send(client: httpx.AsyncClient, words: list[str], key: str) -> httpx.Response:
    """Do what that curl would do, with a real key where the page has $KEY."""
    headers = dict(
        value.replace("$KEY", key).split(": ", 1)
        for option, value in pairwise(words)
        if option == "-H"
    )
    body = words[words.index("-d") + 1] if "-d" in words else None
    sent = [value.split("=", 1) for option, value in pairwise(words) if option == "-F"]
    files = {name: (value[1:], b"# Delivery") for name, value in sent if value.startswith("@")}
    form = {name: value for name, value in sent if not value.startswith("@")}
    address = next(word for word in words if word.startswith("http"))
    return await client.request(
        "POST" if body or sent else "GET",
        httpx.URL(address).raw_path.decode(),
        headers=headers,
        content=body,
        data=form or None,
        files=files or None,
    )


def test_every_command_line_on_a_page_is_one_of_the_programs() -> None:
    known = dict(cli_reference.commands(get_command(app), "memoranda"))
    lines = shell_lines("memoranda")
    assert len(lines) > 5
    for page, words in lines:
        name = next((" ".join(words[:n]) for n in (3, 2) if " ".join(words[:n]) in known), None)
        assert name, f"{page}: {' '.join(words)}"
        options = {option for each in known[name].params for option in each.opts}
        used = {word for word in words if word.startswith("--")}
        assert used <= options | {"--help"}, f"{page}: {' '.join(words)}"


async def test_the_role_that_the_readme_makes_is_one_that_is_let_in(postgres: Postgres) -> None:
    [(page, statements)] = blocks("sql")
    assert page == "README.md"
    made = statements.replace("'…'", "'secret'").replace("memoranda", "readme_role")
    with psycopg.connect(postgres.superuser_url, autocommit=True) as connection:
        for statement in filter(str.strip, made.split(";")):
            connection.execute(statement.encode())
    address = postgres.url("readme_role", ADMIN).replace(
        f"{ADMIN}:{postgres.password}", "readme_role:secret"
    )
    try:
        async with Memoranda.open(address) as memoranda:
            await memoranda.memories.remember(memoranda.owner, "Orders ship from Leipzig.")
    finally:
        postgres.drop_database(address)
        with psycopg.connect(postgres.superuser_url, autocommit=True) as connection:
            connection.execute("DROP ROLE readme_role")


@pytest.mark.parametrize("program", ["curl", "memoranda"])
def test_a_line_is_read_with_its_continuation_and_without_its_comment(program: str) -> None:
    assert not [word for _, words in shell_lines(program) for word in words if word in {"\\", "#"}]
