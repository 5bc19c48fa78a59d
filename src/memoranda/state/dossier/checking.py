"""What an owner or a user writes into a dossier, checked before any of it is kept."""

from collections.abc import Sequence
from typing import Final

from memoranda.state.dossier.models import (
    LONGEST_FIELD,
    LONGEST_TEXT,
    MOST_ENTRIES,
    Company,
    DossierText,
    Entry,
)
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_length, check_storable, text_input

LARGEST_VERSION: Final = 2**31 - 1


def checked(text: DossierText) -> DossierText:
    """The dossier with every text trimmed. Raises `Invalid` and `OverLimit`, each with its field."""
    return DossierText(
        company=_company(text.company),
        services=_entries("services", text.services),
        ideal_customer_profiles=_entries("ideal_customer_profiles", text.ideal_customer_profiles),
        offers=_entries("offers", text.offers),
    )


def checked_text(field: str, text: str, *, limit: int = LONGEST_TEXT) -> str:
    """The text trimmed; it may be empty."""
    check_storable(field, text)
    trimmed = text.strip()
    check_length(field, trimmed, limit)
    return trimmed


def _company(company: Company) -> Company:
    limits = dict.fromkeys(Company.model_fields, LONGEST_FIELD) | {"description": LONGEST_TEXT}
    given = {
        name: checked_text(f"company.{name}", getattr(company, name), limit=limit)
        for name, limit in limits.items()
    }
    return Company(**given)


def _entries(field: str, entries: Sequence[Entry]) -> list[Entry]:
    if len(entries) > MOST_ENTRIES:
        raise OverLimit(
            f"{field} lists {len(entries)} and may list {MOST_ENTRIES}: leave some out.",
            field=field,
            limit=MOST_ENTRIES,
        )
    return [
        Entry(
            name=text_input(f"{field}.{place}.name", each.name, limit=LONGEST_FIELD),
            description=checked_text(f"{field}.{place}.description", each.description),
        )
        for place, each in enumerate(entries)
    ]


def version_input(field: str, version: int) -> int:
    """The version that a caller has read. Raises `Invalid` for what can be no version."""
    if not 0 <= version <= LARGEST_VERSION:
        raise Invalid(
            f"{field} is no version: give the one that was read, which is 0 before the first write.",
            field=field,
        )
    return version
