"""`memoranda dossier`: what the organization says of itself, as runs are told it."""

from typing import Annotated, Final

import typer

from memoranda.surfaces.cli.documents import read_json
from memoranda.surfaces.cli.fields import fields_of, read_as, version_in
from memoranda.surfaces.cli.options import User
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, listed
from memoranda.surfaces.cli.verbs import group, verb

dossier = group("What the organization says of itself: show and write it.")

MOST_BYTES: Final = 2_000_000
SHOWN: Final = frozenset({"updated_at", "user_section", "facts"})
"""What `show --json` prints beside what is written."""


@verb(dossier, "show", reads=True)
async def show(at: Session, *, user: User = None) -> Answer:
    """Show what a model is told of the dossier; with --json, also the text as it was written."""
    page = await at.memoranda.dossier_reader.page(at.who, user_id=await at.user_id(user))
    rows = [(fact.title, fact.body) for fact in page.facts]
    empty = "Nothing is written yet. Write it with: memoranda dossier set FILE"
    return Answer(page, lambda: listed(("about", "~what is told"), rows, empty=empty))


@verb(dossier, "set", files=("file",))
async def set_dossier(
    at: Session,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON file, or - for standard input.")
    ],
) -> Answer:
    """Write the dossier as a whole from a JSON file, such as `show --json` prints.

    Where the file states the version that it was read at, nothing is written over what is newer.
    """
    from memoranda.state.dossier.models import DossierText

    fields = fields_of(read_json(file, most=MOST_BYTES), file, shown=SHOWN)
    version = version_in(fields, file)
    text = read_as(DossierText, fields, file)
    if version is None:
        version = (await at.memoranda.dossier.get(at.who)).version
    written = await at.memoranda.dossier.put(at.who, text, version)
    return Answer(written, lambda: [card({"dossier": "written", "version": written.version})])


@verb(dossier, "set-user")
async def set_user(
    at: Session,
    user: Annotated[str, typer.Argument(metavar="USER", help="A user, by id or external id.")],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What runs for that user may be told of it.")
    ],
) -> Answer:
    """Write a user's section; an empty text says nothing any more."""
    user_id = (await at.memoranda.access.user(at.who, user)).id
    version = (await at.memoranda.dossier.get_user(at.who, user_id)).version
    section = await at.memoranda.dossier.put_user(at.who, user_id, text, version)
    return Answer(section, lambda: [card({"section": "written", "version": section.version})])
