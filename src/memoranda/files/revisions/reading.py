"""What a file was before, read within a transaction: the present state is the newest revision."""

from datetime import datetime, timedelta
from typing import Final

from memoranda.files.errors import RevisionGone
from memoranda.files.models import FileRevision, RevisionText
from memoranda.files.revisions import store
from memoranda.files.store import Kept
from memoranda.storage import Transaction
from memoranda.words.errors import NotFound

NEWEST_KEPT: Final = 20
"""Earlier states that each file keeps, however old they are."""
KEPT_FOR: Final = timedelta(days=30)
"""How long each earlier state is kept from when it was replaced, however many there are."""
_OF_FILE: Final = RevisionText.model_fields.keys() & Kept.model_fields.keys()


def history(tx: Transaction, file: Kept, before: int | None, limit: int) -> list[FileRevision]:
    """At most `limit` states, the newest first, below the number `before`."""
    now = [] if before is not None and before <= file.revision else [_plain(present(file))]
    return [*now, *store.page(tx, file.id, before, limit - len(now))] if limit else []


def revision(tx: Transaction, file: Kept, number: int) -> RevisionText:
    """One state. Raises `NotFound` for one that never was, and `RevisionGone` for one that is kept no longer."""
    if number == file.revision:
        return present(file)
    found = store.find(tx, file.id, number) if 1 <= number < file.revision else None
    if found is not None:
        return found
    if 1 <= number < file.revision:
        raise _gone(f"Revision {number} of {file.name}")
    raise NotFound(
        f"There is no revision {number} of {file.name}: they are counted from 1 to {file.revision}.",
        revision=number,
        newest=file.revision,
    )


def as_of(tx: Transaction, file: Kept, moment: datetime) -> RevisionText:
    """The state that the file was in at that time.

    Raises `NotFound` for a time before there was the file, and `RevisionGone` for a state that is kept no longer.
    """
    if file.written_at <= moment:
        return present(file)
    found = store.at(tx, file.id, moment)
    # The one after it may have been erased.
    if found is not None and found.replaced_at is not None and moment < found.replaced_at:
        return found
    if file.created_at <= moment:
        raise _gone(f"What {file.name} said at that time")
    raise NotFound(
        f"There was no {file.name} at that time: it was made on {file.created_at:%Y-%m-%d}."
    )


def present(file: Kept) -> RevisionText:
    """What the file is now, as its newest revision."""
    values = {name: getattr(file, name) for name in _OF_FILE}
    return RevisionText(number=file.revision, replaced_at=None, **values)


def _plain(state: RevisionText) -> FileRevision:
    return FileRevision(**{name: getattr(state, name) for name in FileRevision.model_fields})


def _gone(what: str) -> RevisionGone:
    return RevisionGone(
        f"{what} is kept no longer: a file keeps its newest {NEWEST_KEPT} revisions, and "
        f"all of the last {KEPT_FOR.days} days, unless one was erased."
    )
