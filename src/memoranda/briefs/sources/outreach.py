"""Records and threads of outreach: the newest rows that the refs of a request name or lead to."""

from typing import Final, Literal

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import NoOptions
from memoranda.state.models import Resolved
from memoranda.state.service import StateReader

DEFAULT_LIMIT = 20

Outreach = Literal["outreach", "outreach_thread"]
OUTREACH: Final[tuple[Outreach, ...]] = ("outreach_thread", "outreach")


class OutreachSource:
    """One row is one item, whole and under no key: what was said is not what is true now."""

    options_schema = NoOptions

    def __init__(self, state: StateReader, name: Outreach) -> None:
        self._state = state
        self._of: Outreach = name
        self.name: ContextKind = name
        self.kind: ContextKind = name

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """At most `spec.limit` rows (20 where it is None), the newest first; 0 reads nothing."""
        limit = DEFAULT_LIMIT if spec.limit is None else spec.limit
        if limit == 0:
            return []
        rows = await self._state.newest(request.subject, request.entities, self._of, limit=limit)
        return [self._item(row) for row in rows]

    def _item(self, row: Resolved) -> ContextItem:
        shown = [field for field in row.fields if field.value != row.title]
        only = len(shown) == 1
        when = "" if row.at is None else f"{row.at:%Y-%m-%d %H:%M}"
        return ContextItem(
            source=self.name,
            kind=self.kind,
            title=", ".join(part for part in (row.title, when) if part),
            body=shown[0].value if only else "; ".join(f"{f.column}: {f.value}" for f in shown),
            ref=row.ref,
            recorded_at=row.at,
        )
