"""`memoranda state`: which rows of an application there are, and what one of them says."""

from typing import Annotated

import typer

from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, listed
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.text import neutral_line

state = group("Rows of an application's own database, read through its projections.")


@verb(state, "kinds", reads=True)
async def list_kinds(at: Session) -> Answer:
    """List the kinds of rows that may be asked for."""
    kinds = await at.memoranda.state.kinds(at.who)
    rows = [(each.kind, each.source, ", ".join(each.columns)) for each in kinds]
    nothing = "No projections are declared: name their file in MEMORANDA_STATE."
    return Answer(
        listing(kinds), lambda: listed(("kind", "source", "~columns"), rows, empty=nothing)
    )


@verb(state, "show", reads=True)
async def show_row(
    at: Session,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="A kind, as `kinds` lists them.")],
    row_id: Annotated[str, typer.Argument(metavar="ID", help="The row's id in its own table.")],
) -> Answer:
    """Show what a brief would be told of one row."""
    from pydantic import ValidationError

    from memoranda.words.ref import ResourceRef

    try:
        ref = ResourceRef(kind=kind, id=row_id)
    except ValidationError:
        raise Invalid("A kind and an id name a row: neither may be blank.", field="id") from None
    if not at.memoranda.state.knows(kind):
        raise NotFound(await missing_kind(at, kind), kind=kind)
    found = await at.memoranda.state.resolve(at.who, [ref])
    if not found:
        raise NotFound(
            "This organization has no such row. `memoranda state kinds` lists the kinds, and the "
            "organization's external id says which rows are its own."
        )
    row = found[0]
    return Answer(row, lambda: [card({each.column: each.value for each in row.fields})])


async def missing_kind(at: Session, kind: str) -> str:
    """That nobody declared this kind, and which ones there are."""
    kinds = await at.memoranda.state.kinds(at.who)
    if not kinds:
        return "No projections are declared: name their file in MEMORANDA_STATE."
    declared = ", ".join(each.kind for each in kinds)
    return f"No projection declares the kind {neutral_line(kind)!r}. There are: {declared}."
