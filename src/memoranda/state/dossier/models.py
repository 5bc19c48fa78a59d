"""The values of a dossier: what is written, and the facts that are told of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

LONGEST_FIELD: Final = 200
"""Characters of a name, and of each short field of the company."""

LONGEST_TEXT: Final = 4_000
"""Characters of a description, and of a user's section."""

MOST_ENTRIES: Final = 50
"""Services, ideal customer profiles, or offers that a dossier may list."""

Part = Literal[
    "company",
    "services",
    "ideal_customer_profile",
    "offer",
    "user_section",
    "document",
    "document_count",
]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Company(_Value):
    """The organization's own description; a field without a text is left out of what is told."""

    name: str = ""
    website: str = ""
    description: str = ""
    industry: str = ""
    country: str = ""
    size: str = ""


class Entry(_Value):
    """A service, an ideal customer profile or an offer."""

    name: str
    description: str = ""


class DossierText(_Value):
    """What an owner writes, as a whole. Lists are told in their order."""

    company: Company = Company()
    services: list[Entry] = []
    ideal_customer_profiles: list[Entry] = []
    offers: list[Entry] = []


class UserSection(_Value):
    """What a user says of how it works here. `version` is 0 where nothing was written."""

    user_id: UUID
    text: str = ""
    version: int = 0
    updated_at: datetime | None = None


class CompanyDossier(DossierText):
    """The dossier as it stands. `version` is 0 where nothing was written; the section is that of the user who was asked for."""

    version: int = 0
    updated_at: datetime | None = None
    user_section: UserSection | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document that runs may be told about: its title, and what it is about where somebody said so."""

    title: str
    summary: str | None
    added_at: datetime


class Fact(_Value):
    """One thing that the dossier tells, as a page, the API and a model are given it."""

    part: Part
    title: str
    body: str
    recorded_at: datetime | None = None


class ToldDossier(CompanyDossier):
    """The dossier as it was written, and the facts that a model is told of it, in their order."""

    facts: list[Fact]
