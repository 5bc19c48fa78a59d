"""What the organization says of itself: one item per fact, the strongest first and documents last."""

from memoranda.briefs.dossier import DossierReader
from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import DossierOptions
from memoranda.state.dossier.models import Fact


class DossierSource:
    """The company dossier. Its items name no row and speak for no other's field."""

    name: ContextKind = "dossier"
    kind: ContextKind = "dossier"
    options_schema = DossierOptions

    def __init__(self, reader: DossierReader) -> None:
        self._reader = reader

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """Every fact, and at most `spec.limit` documents (20 where it is None); 0 reads nothing at all."""
        if spec.limit == 0:
            return []
        options = spec.options_as(DossierOptions)
        facts = await self._reader.facts(
            request.subject,
            include_user=options.include_user,
            include_documents=options.include_documents,
            documents=spec.limit,
        )
        return [_item(fact) for fact in facts]


def _item(fact: Fact) -> ContextItem:
    return ContextItem(
        source="dossier",
        kind="dossier",
        title=fact.title,
        body=fact.body,
        recorded_at=fact.recorded_at,
    )
