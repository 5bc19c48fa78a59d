"""Makes the facts of a dossier, in the one order in which everybody is told them: pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from memoranda.state.dossier.models import Company, Document, DossierText, Entry, Fact, Part

_SHORT_FIELDS: Final = ("website", "industry", "country", "size")


def organization_facts(text: DossierText) -> list[Fact]:
    """The company, its services as one fact, each ideal customer profile, and each offer."""
    facts = (
        [Fact(part="company", title="Company", body=body)] if (body := _said(text.company)) else []
    )
    if text.services:
        listed = "; ".join(map(_entry, text.services))
        facts.append(Fact(part="services", title="Services", body=listed))
    profiles, offers = text.ideal_customer_profiles, text.offers
    facts += _each("ideal_customer_profile", "Ideal customer profile", profiles)
    return facts + _each("offer", "Offer", offers)


def build_dossier(
    organization: Sequence[Fact], section: str, documents: Iterable[Document], count: int
) -> list[Fact]:
    """All facts: the organization's, the user's section, documents as they come, and how many there are.

    What holds no text is left out, and so is a count of none.
    """
    facts = list(organization)
    if section.strip():
        facts.append(Fact(part="user_section", title="About the user", body=section))
    facts += map(_document, documents)
    if count:
        counted = f"{count} {'document' if count == 1 else 'documents'} in all"
        facts.append(Fact(part="document_count", title="Documents", body=counted))
    return facts


def _said(company: Company) -> str:
    """The company in a line: its name, then what it is, then each short field with its name."""
    fields = [f"{name}: {value}" for name in _SHORT_FIELDS if (value := getattr(company, name))]
    return "; ".join(filter(None, [company.name, company.description, *fields]))


def _each(part: Part, title: str, entries: Iterable[Entry]) -> list[Fact]:
    return [Fact(part=part, title=title, body=_entry(each)) for each in entries]


def _entry(entry: Entry) -> str:
    return f"{entry.name}: {entry.description}" if entry.description else entry.name


def _document(document: Document) -> Fact:
    about = f"{document.title}: {document.summary}" if document.summary else document.title
    return Fact(part="document", title="Document", body=about, recorded_at=document.added_at)
