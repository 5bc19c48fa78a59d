"""How every tool is asked, what its answers may and must tell of, and what stays as it was."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from memoranda.access.models import Principal, Role
from memoranda.app import Memoranda
from memoranda.tools.models import ToolResult
from tests.contract.copied_rows import Rows, rows_of
from tests.surfaces.mcp.walk_house import (
    CALLERS,
    FILE_WRITES,
    IN_SPACES,
    PHRASE,
    ROWS,
    WRITES,
    Caller,
    House,
    Row,
    briefed,
    changes,
    finds,
    has_run,
    heard,
    lists,
)

UUIDS: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NO_VERSION: Final = 9
"""One that no memory has: whoever may change it is told what it says by now."""
NO_HASH: Final = "0" * 64
"""One that no file has, likewise."""


def never(_: Caller, __: Row) -> bool:
    """No row at all."""
    return False


@dataclass(frozen=True)
class Step:
    """A call of a tool, about a memory where it names one, and the rows of which its answer tells."""

    asked: Callable[[str], dict[str, Any]]
    tells: Callable[[Caller, Row], bool]
    names_memory: bool = False
    documents: bool = False
    files: Callable[[Caller], bool] = lambda _: False
    talks: bool = False


# Of every tool that there is.
WALK: Final = {
    "remember": Step(lambda _: {"content": "Tea is at four."}, never),
    "recall": Step(lambda _: {"query": PHRASE, "limit": 50}, finds),
    "list": Step(lambda _: {"limit": 50}, lists),
    "get": Step(lambda memory: {"memory_id": memory}, lists, names_memory=True),
    "update": Step(
        lambda memory: {
            "memory_id": memory,
            "expected_version": NO_VERSION,
            "patch": {"title": "Tea"},
        },
        changes,
        names_memory=True,
    ),
    "forget": Step(
        lambda memory: {"memory_id": memory, "expected_version": NO_VERSION},
        changes,
        names_memory=True,
    ),
    "search_knowledge": Step(lambda _: {"query": PHRASE}, never, documents=True),
    "search_conversations": Step(lambda _: {"query": PHRASE}, never, talks=True),
    "build_brief": Step(lambda _: {"query": PHRASE}, briefed, documents=True),
    "get_context_file": Step(
        lambda _: {"slug": "people"}, never, files=lambda caller: caller.space is None
    ),
    # Both are told what the file says by now.
    "update_context_file": Step(
        lambda _: {"slug": "people", "body": "Tea.", "expected_hash": NO_HASH},
        never,
        files=lambda caller: caller.space is None and caller.role in {Role.OWNER, Role.AGENT},
    ),
    "update_notes": Step(lambda _: {"body": "Tea.", "expected_hash": NO_HASH}, never),
    # Counts alone: no text of anybody's is told.
    "get_file_load": Step(lambda _: {"slug": "people"}, never),
    "get_context_load": Step(lambda _: {"query": PHRASE}, never),
}
READING: Final = [name for name in WALK if name not in {*WRITES, *FILE_WRITES, "get_context_load"}]


def offered_to(caller: Caller) -> set[str]:
    """The tools that the caller is offered, which no policy denies here."""
    tools = [*READING, *WRITES] if caller.role is not Role.READ_ONLY else READING
    if caller.space is not None:
        return {tool for tool in tools if tool in (*IN_SPACES, *WRITES)}
    by_role = {
        Role.OWNER: {"update_context_file"},
        Role.AGENT: {"update_notes", "get_context_load"},
    }
    return {*tools, *by_role.get(caller.role, ())}


def told_by(tool: str, house: House, caller: str) -> set[str]:
    """The words that the answers of a tool may hold, and have to."""
    step, who = WALK[tool], CALLERS[caller]
    no_brief = tool == "build_brief" and who.space is not None
    documents = ["document"] if step.documents and not no_brief else []
    files = ["file"] if step.files(who) else []
    said = [f"said{user}" for user in house.people if step.talks and heard(who, user)]
    return house.words(caller, step.tells, *documents, *files, *said)


def named_by(tool: str, houses: Iterable[House]) -> list[str]:
    """The ids that a tool is asked about: of all memories, where it names one."""
    if not WALK[tool].names_memory:
        return [""]
    return [str(each) for house in houses for each in house.memories.values()]


def hidden_from(house: House, caller: str, houses: Iterable[House]) -> set[str]:
    """The ids of all that the caller may not be told of."""
    who = CALLERS[caller]
    known = [str(house.memories[name]) for name, row in ROWS.items() if lists(who, row)]
    # A brief tells of earlier runs for the same user, whichever agent's they were.
    known += [str(house.others[f"run {user}"]) for user in house.people if has_run(who, user)]
    # A found message names its conversation.
    known += [
        str(house.others[f"conversation {user}"]) for user in house.people if heard(who, user)
    ]
    return {identity for each in houses for identity in each.ids()}.difference(known)


async def pages(memoranda: Memoranda, who: Principal, tool: str, **asked: Any) -> list[Any]:
    """The answers of a tool that lists, two memories at a time."""
    found: list[Any] = []
    asked = WALK[tool].asked("") | asked | {"limit": 2}
    while not found or found[-1]["next_cursor"]:
        going_on = {"cursor": found[-1]["next_cursor"]} if found else {}
        answer, _ = await memoranda.tools.invoke(who, tool, asked | going_on)
        found.append(answer)
    return found


def plain(result: ToolResult, named: object) -> str:
    """An answer, byte for byte but for the id that was named."""
    return result.model_dump_json().replace(str(named), "named")


async def snapshot(memoranda: Memoranda, house: House) -> Rows:
    """Every row of an organization, in an order that does not depend on where it is kept."""
    await memoranda.memories.settled()
    await memoranda.tools.settled()
    rows = await memoranda.storage.read(house.organization, rows_of)
    return {table: sorted(found, key=repr) for table, found in rows.items()}


@asynccontextmanager
async def unchanged(
    memoranda: Memoranda, house: House, *, but: Iterable[str] = ()
) -> AsyncIterator[None]:
    """Within the block no row of an organization is added, changed or deleted, but in the tables named."""
    before = await snapshot(memoranda, house)
    yield
    after = await snapshot(memoranda, house)
    assert before.keys() == after.keys()
    for table in before.keys() - set(but):
        assert before[table] == after[table], table


def without_ids(answers: object) -> str:
    """Answers as JSON, where each id is a number that counts from the first, and no time stands."""
    numbers: dict[str, str] = {}
    text = json.dumps(answers, sort_keys=True)
    text = re.sub(r'"next_cursor": "[^"]*"', '"next_cursor": "more"', text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d[.\d]*Z)?", "TIME", text)
    return UUIDS.sub(lambda found: numbers.setdefault(found[0], f"<{len(numbers)}>"), text)
