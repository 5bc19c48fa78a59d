"""The SQL of the dossier: an organization's part, and its users' sections."""

from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update

from memoranda.access.store import check_subject
from memoranda.runs.store import record_activity
from memoranda.state.dossier.models import CompanyDossier, DossierText, UserSection
from memoranda.storage import Transaction, insert_or_ignore
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import dossier_sections, dossiers
from memoranda.words.errors import Conflict
from memoranda.words.quotes import Quotes

d, s = dossiers.c, dossier_sections.c
CHANGED: Final = "dossier_changed"
SECTION_CHANGED: Final = "dossier_section_changed"
UNWRITTEN: Final = 0
"""The version of what nobody has written yet."""

Stamp: TypeAlias = tuple[int, datetime | None]
"""A version and its time: what was made of a row holds as long as the row has the same."""

STAMP: Final = select(d.version, d.updated_at)
WRITTEN: Final = select(*[d[name] for name in DossierText.model_fields], d.version, d.updated_at)
ADD: Final = insert_or_ignore(dossiers)
CHANGE: Final = (
    update(dossiers)
    .where(d.version == bindparam("expected"))
    .values(
        **{name: bindparam(f"new_{name}") for name in DossierText.model_fields},
        version=d.version + 1,
        updated_by=bindparam("writer"),
        updated_at=bindparam("now"),
    )
)
SECTION: Final = select(*[s[name] for name in UserSection.model_fields]).where(
    s.user_id == bindparam("user")
)
SECTIONS: Final = (
    select(s.user_id, s.text)
    .where(s.user_id > bindparam("after"))
    .order_by(s.user_id)
    .limit(bindparam("most"))
)
ADD_SECTION: Final = insert_or_ignore(dossier_sections)
CHANGE_SECTION: Final = (
    update(dossier_sections)
    .where(s.user_id == bindparam("user"), s.version == bindparam("expected"))
    .values(
        text=bindparam("new_text"),
        version=s.version + 1,
        updated_by=bindparam("writer"),
        updated_at=bindparam("now"),
    )
)
REMOVE_SECTION: Final = delete(dossier_sections).where(s.user_id == bindparam("user"))


def stamp(tx: Transaction) -> Stamp:
    """How the organization's part stands, without reading it."""
    row = tx.one(STAMP)
    return (UNWRITTEN, None) if row is None else (row.version, row.updated_at)


def written(tx: Transaction) -> CompanyDossier:
    """The organization's part; an empty one where nothing was written."""
    row = tx.one(WRITTEN)
    return CompanyDossier() if row is None else CompanyDossier.model_validate(row._asdict())


def put(tx: Transaction, text: DossierText, expected: int, writer: UUID | None) -> CompanyDossier:
    """Write the organization's part whole. Raises `Conflict` unless it is at the version `expected`."""
    parts = text.model_dump()
    if not _added(tx, expected, parts, writer):
        new = {f"new_{name}": value for name, value in parts.items()}
        if not tx.run(CHANGE, expected=expected, writer=writer, now=tx.now, **new):
            raise _stale("dossier", stamp(tx)[0])
    record_activity(tx, CHANGED, user_id=writer, version=expected + 1)
    return written(tx)


def _added(tx: Transaction, expected: int, parts: dict[str, Any], writer: UUID | None) -> bool:
    if expected != UNWRITTEN:
        return False
    return tx.run(ADD, **parts, version=1, updated_by=writer, updated_at=tx.now) == 1


def section(tx: Transaction, user_id: UUID) -> UserSection:
    """A user's section, for a user that is known to be there."""
    row = tx.one(SECTION, user=user_id)
    if row is None:
        return UserSection(user_id=user_id)
    return UserSection.model_validate(row._asdict())


def sections_quoting(
    tx: Transaction, quotes: Quotes, after: UUID, most: int
) -> tuple[list[UUID], UUID | None]:
    """Of the next `most` sections, the users whose section quotes; and where to go on from."""
    rows = tx.all(SECTIONS, after=after, most=most)
    found = [row.user_id for row in rows if quotes.are_in(row.text)]
    return found, rows[-1].user_id if rows else None


def section_of(tx: Transaction, user_id: UUID) -> UserSection:
    """The section. Raises `NotFound` for an unknown user."""
    check_subject(tx, user_id=user_id, agent_id=None)
    return section(tx, user_id)


def put_section(
    tx: Transaction, user_id: UUID, text: str, expected: int, writer: UUID | None
) -> UserSection:
    """Write a user's section. Raises `NotFound`, and `Conflict` unless it is at the version `expected`."""
    check_subject(tx, user_id=user_id, agent_id=None)
    new = {"text": text, "updated_by": writer, "updated_at": tx.now}
    added = expected == UNWRITTEN and tx.run(ADD_SECTION, user_id=user_id, version=1, **new)
    if not added and not tx.run(
        CHANGE_SECTION, user=user_id, expected=expected, new_text=text, writer=writer, now=tx.now
    ):
        raise _stale("section", section(tx, user_id).version)
    record_activity(tx, SECTION_CHANGED, subject_id=user_id, user_id=writer, version=expected + 1)
    return section(tx, user_id)


def remove_section(tx: Transaction, user_id: UUID) -> None:
    """Take a user's section away, and have its traces taken out of the files."""
    if tx.run(REMOVE_SECTION, user=user_id):
        signal(tx, SCRUB)


def _stale(what: str, version: int) -> Conflict:
    return Conflict(
        f"The {what} has changed since: it is at version {version}. Read it, then write it again.",
        version=version,
    )
