"""What a command works with: the choices of its command line, and the opened product."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memoranda.words.errors import Invalid, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from memoranda.access.models import Principal
    from memoranda.app import Memoranda
    from memoranda.settings import Settings


@dataclass(frozen=True)
class Choices:
    """What the shared options said, before or after the command's name; after wins."""

    db: str | None = None
    organization: str | None = None
    as_json: bool = False
    traceback: bool = False

    def over(self, earlier: "Choices | None") -> "Choices":
        """These choices, and the earlier ones where these say nothing."""
        if earlier is None:
            return self
        return replace(
            earlier,
            db=self.db if self.db is not None else earlier.db,
            organization=self.organization or earlier.organization,
            as_json=self.as_json or earlier.as_json,
            traceback=self.traceback or earlier.traceback,
        )

    def settings(self, **given: object) -> "Settings":
        """The settings of the environment, under what the command line says. Raises `Invalid`."""
        from memoranda.settings import Settings, default_db

        if self.db is None:
            return Settings.load(**given)
        return Settings.load(**given, db=default_db()).on(self.db)


@dataclass(frozen=True)
class Session:
    """The opened product, and in whose name the command acts: an owner of one organization."""

    memoranda: "Memoranda"
    who: "Principal"
    choices: Choices

    def whose(self, *, platform: bool) -> "Principal":
        """Who writes: the owner, or for the platform's own rows the operator."""
        from memoranda.access.models import LOCAL_OPERATOR

        return LOCAL_OPERATOR if platform else self.who

    async def agent_id(self, named: str | None) -> "UUID | None":
        """The id of the agent that `--agent` names; None where it names none."""
        if named is None:
            return None
        return (await self.memoranda.access.agent(self.who, named)).id

    async def acting_as(self, agent: str | None, user: str | None) -> "Principal":
        """The agent, perhaps for a user, as a key of it would be; the owner where none is named. Raises `Invalid`."""
        from memoranda.access.models import Principal, Role

        if agent is None:
            if user is not None:
                raise Invalid(
                    "--user says for whom an agent acts: name it with --agent.", field="user"
                )
            return self.who
        return Principal(
            organization_id=self.who.organization_id,
            role=Role.AGENT,
            agent_id=await self.agent_id(agent),
            user_id=await self.user_id(user),
        )

    async def user_id(self, named: str | None) -> "UUID | None":
        """The id of the user that `--user` names; None where it names none."""
        if named is None:
            return None
        return (await self.memoranda.access.user(self.who, named)).id


@asynccontextmanager
async def opened(
    choices: Choices,
    settings: "Settings | None" = None,
    *,
    reads: bool = False,
    work: bool = False,
) -> AsyncIterator[Session]:
    """Open the database that was chosen, acting as owner of the organization that was chosen.

    Who only `reads` makes no database: `NotFound` where there is none, but for the file that
    is used when none is named. With `work`, the worker runs meanwhile.
    """
    from memoranda.app import Memoranda

    settings = settings or choices.settings()
    if reads:
        _check_there(settings.db)
    async with Memoranda.open(settings.db, settings=settings, work=work) as memoranda:
        yield Session(memoranda, await _owner(memoranda, choices.organization), choices)


def _check_there(db: str) -> None:
    """A name with a slip in it would else be a new, empty database, which knows nothing."""
    from memoranda.settings import default_db
    from memoranda.storage.health import missing_file

    missing = None if db == default_db() else missing_file(db)
    if missing is not None:
        raise NotFound(
            f"There is no database at {missing}: check the name that --db or MEMORANDA_DB gives. "
            "A command that writes makes one there, such as memoranda remember.",
            database=str(missing),
        )


async def _owner(memoranda: "Memoranda", organization: str | None) -> "Principal":
    if organization is None:
        return memoranda.owner
    from memoranda.access.models import LOCAL_OPERATOR, Principal, Role

    cursor, more = None, True
    while more:
        page = await memoranda.access.organizations(LOCAL_OPERATOR, cursor=cursor)
        for found in page.items:
            if organization in {str(found.id), found.external_id}:
                return Principal(organization_id=found.id, role=Role.OWNER, user_id=found.owner_id)
        cursor = page.next_cursor
        more = cursor is not None
    raise NotFound(
        f"There is no organization {organization!r} in this database. "
        "List them with: memoranda organizations list",
        organization=organization,
    )
