"""Context files of one organization or two, as the tests of them need them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.files.body import hash_of
from memoranda.files.models import ContextFile
from memoranda.files.service import Files
from memoranda.runs.events.models import Event
from memoranda.runs.events.service import Events
from memoranda.runs.models import Activity
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from tests.contract.tenants import Tenant

WORKSPACE = ["about-you", "organization", "people", "glossary", "voice", "roster"]
AGENT = ["SOUL.md", "AGENTS.md", "NOTES.md", "HEARTBEAT.md", "TOOLS.md", "agent.yml"]
EMPTY = hash_of("")


async def written(
    files: Files, who: Principal, name: str, *bodies: str, agent: UUID | str | None = None
) -> ContextFile:
    """The file after each body was written over what it said."""
    file = await files.get(who, name, agent=agent)
    for body in bodies:
        file = await files.write(who, name, body, file.hash, agent=agent)
    return file


async def activities(storage: Storage, acme: Tenant) -> list[Activity]:
    """The organization's activities, the oldest first."""
    return (await Runs(storage).activities(acme.owner, limit=200)).items[::-1]


async def events(storage: Storage, who: Principal) -> list[Event]:
    """The events that `who` hears of, the oldest first."""
    return (await Events(storage).page(who, 0, limit=500)).items


def kinds(found: Sequence[Any]) -> list[str]:
    return [each.type for each in found]
