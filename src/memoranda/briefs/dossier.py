"""The dossier as it is told: the facts of an organization with its documents, the same for people and models."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import subject_of
from memoranda.knowledge.models import Source
from memoranda.knowledge.service import Knowledge
from memoranda.state.dossier.building import build_dossier, organization_facts
from memoranda.state.dossier.models import Document, Fact, ToldDossier
from memoranda.state.dossier.service import Dossier
from memoranda.words.given import checks_shapes
from memoranda.words.subject import ContextSubject

DOCUMENTS: Final = 20
"""How many documents are named where nobody says; the count tells of all."""


@checks_shapes
class DossierReader:
    """Joins what was written with the documents that are ready."""

    def __init__(self, dossier: Dossier, knowledge: Knowledge) -> None:
        self._dossier = dossier
        self._knowledge = knowledge

    async def page(self, who: Principal, *, user_id: UUID | None = None) -> ToldDossier:
        """What `Dossier.get` answers, with all facts that it makes. Raises as that does."""
        dossier = await self._dossier.get(who, user_id=user_id)
        section = "" if dossier.user_section is None else dossier.user_section.text
        documents, count = await self._documents(subject_of(who), DOCUMENTS)
        facts = build_dossier(organization_facts(dossier), section, documents, count)
        return ToldDossier(**dict(dossier), facts=facts)

    async def facts(
        self,
        subject: ContextSubject,
        *,
        include_user: bool,
        include_documents: bool,
        documents: int | None,
    ) -> list[Fact]:
        """What a run is told for the subject, with at most `documents` documents (20 where it is None)."""
        told = await self._dossier.told(subject, include_user=include_user)
        if not include_documents:
            return build_dossier(told.organization, told.section, [], 0)
        newest, count = await self._documents(
            subject, DOCUMENTS if documents is None else documents
        )
        return build_dossier(told.organization, told.section, newest, count)

    async def _documents(self, subject: ContextSubject, most: int) -> tuple[list[Document], int]:
        sources, count = await self._knowledge.newest(subject, most)
        return [_document(source) for source in sources], count


def _document(source: Source) -> Document:
    return Document(source.title, source.summary, source.created_at)
