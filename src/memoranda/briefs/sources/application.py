"""The fields of the rows that a request names: never searched for, in the order of their refs."""

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import NoOptions
from memoranda.state.models import Resolved, StateField
from memoranda.state.service import StateReader
from memoranda.words.subject_key import make_subject_key


class ApplicationSource:
    """What the application says now of the rows that the request is about."""

    name: ContextKind = "application"
    kind: ContextKind = "application"
    options_schema = NoOptions

    def __init__(self, state: StateReader) -> None:
        self._state = state

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """One item for each field, at most `spec.limit` (all where it is None); 0 reads nothing."""
        if spec.limit == 0:
            return []
        rows = await self._state.read(request.subject, request.entities)
        items = [_item(row, field) for row in rows for field in row.fields]
        return items[: spec.limit]


def _item(row: Resolved, field: StateField) -> ContextItem:
    return ContextItem(
        source="application",
        kind="application",
        title=field.column,
        body=field.value,
        # An id that holds a colon makes no key that could be read back, so its facts meet no others.
        subject_key=None if ":" in row.ref.id else make_subject_key(row.ref, field.column),
        ref=row.ref,
    )
