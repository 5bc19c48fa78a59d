"""Which document a person means: by its id, or by the title or URI that it alone has."""

from typing import TYPE_CHECKING, Final
from uuid import UUID

from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import cell
from memoranda.words.errors import Invalid, NotFound

if TYPE_CHECKING:
    from memoranda.knowledge.models import Source

AT_ONCE: Final = 500
SHOWN: Final = 3


async def found_source(at: Session, named: str, *, platform: bool = False) -> "Source":
    """The document. Raises `NotFound`, and `Invalid` where more than one has the title or URI."""
    who = at.whose(platform=platform)
    try:
        return await at.memoranda.knowledge.get(who, UUID(named))
    except ValueError:
        found = await _called(at, named, platform=platform)
    if not found:
        raise NotFound(
            f"There is no document {cell(named).plain!r}: give its id, title or URI as "
            "`memoranda knowledge list` shows them.",
            document=named,
        )
    if len(found) > 1:
        ids = [str(each.id) for each in found]
        more = " and more" if len(ids) > SHOWN else ""
        raise Invalid(
            f"{len(ids)} documents are called {cell(named).plain!r}: give the id of one, "
            f"{' or '.join(ids[:SHOWN])}{more}.",
            field="document",
            ids=ids,
        )
    return found[0]


async def _called(at: Session, named: str, *, platform: bool) -> "list[Source]":
    who, found, cursor = at.whose(platform=platform), [], None
    while True:
        page = await at.memoranda.knowledge.page(who, limit=AT_ONCE, cursor=cursor)
        found += [each for each in page.items if named in {each.title, each.uri}]
        cursor = page.next_cursor
        if cursor is None:
            return found
