"""`memoranda doctor`: looks at the installation and the database, and says what is wrong."""

import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Choices, Session, opened
from memoranda.surfaces.cli.tables import table
from memoranda.words.errors import MemorandaError

if TYPE_CHECKING:
    from memoranda.storage.health import Finding

OLDEST_PYTHON: Final = (3, 11)
PAGE: Final = 200

_MARKS: Final = {
    True: Text("ok", style="green"),
    False: Text("fault", style="bold red"),
    None: Text("note", style="yellow"),
}


def doctor(choices: Choices) -> Answer:
    """Check the installation and the database. Exit code 10 when something is wrong."""
    import asyncio

    from memoranda.storage.health import examine, shown

    url = choices.settings().db
    findings = [_python(), *examine(url)]
    if all(each.ok is not False for each in findings) and _has_schema(findings):
        findings += asyncio.run(_work(choices))
    healthy = all(each.ok is not False for each in findings)
    value = {
        "healthy": healthy,
        "database": shown(url),
        "checks": [{"name": each.name, "ok": each.ok, "detail": each.detail} for each in findings],
    }
    rows = [(_MARKS[each.ok], each.name, each.detail) for each in findings]
    verdict = "Everything is in order." if healthy else "Something is wrong: see the faults above."
    return Answer(
        value,
        lambda: [table(("", "check", "~finding"), rows), Text(verdict)],
        exits.DONE if healthy else exits.UNSUCCESSFUL,
    )


def _python() -> "Finding":
    from memoranda.storage.health import Finding

    version = ".".join(map(str, sys.version_info[:3]))
    wanted = ".".join(map(str, OLDEST_PYTHON))
    new_enough = sys.version_info >= OLDEST_PYTHON
    return Finding("python", new_enough, f"Python {version}; {wanted} or newer is needed")


def _has_schema(findings: "Iterable[Finding]") -> bool:
    return any(each.name == "schema" and each.ok for each in findings)


async def _work(choices: Choices) -> "list[Finding]":
    """What waits and what failed in the organization that the command acts in."""
    from memoranda.storage.health import Finding

    try:
        async with opened(choices) as at:
            counts = await _sources(at)
            application = await _application(at)
            kept = await at.memoranda.kept.counts(at.who)
    except MemorandaError as error:
        return [Finding("organization", False, error.message)]
    waiting, failed = counts["pending"], counts["failed"]
    backlog = (
        f"{waiting} {'document waits' if waiting == 1 else 'documents wait'}: "
        f"memoranda serve or memoranda worker takes {'it' if waiting == 1 else 'them'} in"
        if waiting
        else "no document waits"
    )
    failures = (
        f"{failed} {'document' if failed == 1 else 'documents'} could not be read: "
        "see memoranda knowledge list"
        if failed
        else "no document failed"
    )
    return [
        Finding("worker_backlog", None if waiting else True, backlog),
        Finding("source_failures", None if failed else True, failures),
        Finding("kept_by_frameworks", True, _told(dict(kept))),
        *application,
    ]


def _told(kept: "dict[str, int]") -> str:
    """What agent frameworks keep, as far as there is any."""
    some = [f"{count} {name.replace('_', ' ')}" for name, count in kept.items() if count]
    return f"{', '.join(some)}: see memoranda kept" if some else "no agent framework keeps anything"


async def _application(at: Session) -> "list[Finding]":
    """Whether the application's own database can be read, where one is declared."""
    from memoranda.storage.health import Finding

    name = "application_database"
    try:
        if not await at.memoranda.state.look():
            return []
    except MemorandaError as error:
        return [Finding(name, False, f"briefs go without its rows. {error.message}")]
    return [Finding(name, True, "answers, and holds all that is declared of it")]


async def _sources(at: Session) -> Counter[str]:
    counts: Counter[str] = Counter()
    cursor = None
    while True:
        page = await at.memoranda.knowledge.page(at.who, limit=PAGE, cursor=cursor)
        counts.update(each.status for each in page.items)
        cursor = page.next_cursor
        if cursor is None:
            return counts
