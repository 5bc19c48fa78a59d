"""The verbs of the dossier: read it, write it, read and write a user's section of it."""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, sees_user, subject_of
from memoranda.access.store import no_user
from memoranda.state.dossier import store
from memoranda.state.dossier.building import organization_facts
from memoranda.state.dossier.checking import checked, checked_text, version_input
from memoranda.state.dossier.models import CompanyDossier, DossierText, Fact, UserSection
from memoranda.storage import Storage, Transaction
from memoranda.storage.scope import NIL
from memoranda.words.given import checks_shapes
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

KEPT: Final = timedelta(seconds=60)
"""How long this process keeps what it made of an organization's part."""

MOST_KEPT: Final = 1_000
"""Organizations of which it keeps that."""

LOOKED_THROUGH: Final = 200
"""Sections that one reading looks through for quotes."""


class Told(NamedTuple):
    """What a dossier tells a subject, but for documents: the organization's facts, and the user's own text."""

    organization: tuple[Fact, ...]
    section: str


class _Kept(NamedTuple):
    """The facts that were made of a row, when, and how the row stood."""

    stamp: store.Stamp
    made_at: datetime
    facts: tuple[Fact, ...]


@checks_shapes
class Dossier:
    """What an organization says of itself, and what its users say of how they work there.

    What is told to runs is made once for each version of the organization's part and kept for a
    minute. Every reading compares the version first, in the transaction in which it reads: what
    any process has written is told from the next reading on.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: OrderedDict[UUID, _Kept] = OrderedDict()

    async def get(self, who: Principal, *, user_id: UUID | None = None) -> CompanyDossier:
        """The organization's part as it was written, with the section of the user who is named.

        A key that is bound to a user gets that user's. Raises `Refused` for another
        user's, and `NotFound` for an unknown one.
        """
        organization = organization_for(who, Permission.READ_STATE)
        user_id = subject_of(who, user_id=user_id).user_id
        return await self._storage.read(organization, _get, user_id)

    async def put(
        self, who: Principal, dossier: DossierText, expected_version: int
    ) -> CompanyDossier:
        """Write the organization's part whole, where it is at `expected_version`: 0 before the first time.

        For owners. Raises `Conflict` with the current version where somebody else wrote it,
        and `Invalid` and `OverLimit` with the field.
        """
        organization = organization_for(who, Permission.WRITE_STATE)
        expected = version_input("expected_version", expected_version)
        text = checked(dossier)
        put = await self._storage.write(organization, store.put, text, expected, who.user_id)
        self._kept.pop(organization, None)
        return put

    async def get_user(self, who: Principal, user_id: UUID) -> UserSection:
        """A user's section; an empty one where nothing was written. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_STATE)
        if not sees_user(who, user_id):
            raise no_user(user_id)
        return await self._storage.read(organization, store.section_of, user_id)

    async def put_user(
        self, who: Principal, user_id: UUID, text: str, expected_version: int
    ) -> UserSection:
        """Write a user's section, where it is at `expected_version`. For that user, and for owners.

        An empty text says nothing any more. Raises as `put`, and `NotFound`.
        """
        organization = organization_for(who, Permission.WRITE_SECTION)
        if not sees_user(who, user_id):
            raise no_user(user_id)
        expected = version_input("expected_version", expected_version)
        said = checked_text("text", text)
        return await self._storage.write(
            organization, store.put_section, user_id, said, expected, who.user_id
        )

    async def told(self, subject: ContextSubject, *, include_user: bool) -> Told:
        """What runs are told for a subject. One without a user is told no section, whatever is asked for."""
        organization = subject.organization_id
        kept = self._kept.get(organization)
        user_id = subject.user_id if include_user else None
        now, section = await self._storage.read(organization, _told, kept, user_id)
        self._kept[organization] = now
        self._kept.move_to_end(organization)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return Told(now.facts, section)

    async def quoting(self, organization_id: UUID, texts: Iterable[str]) -> tuple[list[UUID], bool]:
        """The users whose section holds one of these texts, and whether the organization's part does.

        Case and whitespace make no difference. For whoever has the right to see them all.
        """
        quotes = Quotes(texts)
        if not quotes:
            return [], False
        written = await self._storage.read(organization_id, store.written)
        quoting: list[UUID] = []
        after: UUID | None = NIL
        while after is not None:
            # Some at a time, so that no one view of the database is held for long.
            found, after = await self._storage.read(
                organization_id, store.sections_quoting, quotes, after, LOOKED_THROUGH
            )
            quoting += found
        return quoting, quotes.are_in(written.model_dump(mode="json"))


def _get(tx: Transaction, user_id: UUID | None) -> CompanyDossier:
    dossier = store.written(tx)
    if user_id is None:
        return dossier
    return dossier.model_copy(update={"user_section": store.section_of(tx, user_id)})


def _told(tx: Transaction, kept: _Kept | None, user_id: UUID | None) -> tuple[_Kept, str]:
    section = "" if user_id is None else store.section(tx, user_id).text
    stamp = store.stamp(tx)
    if kept is not None and kept.stamp == stamp and timedelta() <= tx.now - kept.made_at < KEPT:
        return kept, section
    # The row names its own version, whichever it is by now.
    dossier = store.written(tx)
    facts = tuple(organization_facts(dossier))
    return _Kept((dossier.version, dossier.updated_at), tx.now, facts), section
