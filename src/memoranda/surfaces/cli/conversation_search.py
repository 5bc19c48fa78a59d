"""`memoranda conversations search`: what was said, found."""

from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.options import Agent, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import cell
from memoranda.surfaces.cli.verbs import verb

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.conversations.finding.models import ConversationAnswer, FoundMessage

PATIENCE_S: Final = 5.0
"""How long a search waits until what was said is read."""
_WAITING: Final = "{} newer messages can't be found yet: a worker reads them (`memoranda worker`)."
_LEFT_OUT: Final = (
    "{} older parts of conversations were not looked at: name a conversation, or an agent."
)


def register(conversations: typer.Typer) -> None:
    """Put the command beside those for conversations."""
    verb(conversations, "search", reads=True)(search_conversations)


async def search_conversations(
    at: Session,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What you look for, in your own words.")
    ],
    limit: Limit = 8,
    *,
    agent: Agent = None,
    user: User = None,
    conversation: Annotated[
        UUID | None,
        typer.Option(
            "--conversation",
            metavar="ID",
            parser=id_of("`memoranda conversations list`"),
            help="Search this conversation alone.",
        ),
    ] = None,
) -> Answer:
    """Find the messages that answer a query, best first."""
    await hear(at)
    found = await at.memoranda.conversation_search.search(
        at.who,
        query,
        agent_id=await at.agent_id(agent),
        user_id=await at.user_id(user),
        conversation_id=conversation,
        limit=limit,
    )
    return Answer(found, lambda: _drawn(found))


async def hear(at: Session) -> None:
    """Have what was said read, since no worker may run beside a command."""
    from memoranda.access.roles import organization_of

    search = at.memoranda.conversation_search
    await search.catch_up(organization_of(at.who), within_s=PATIENCE_S)


def _drawn(answer: "ConversationAnswer") -> "list[RenderableType]":
    drawn: list[RenderableType] = []
    for found in answer.results:
        heading = Text(f"{found.score:.3f}  ", style="bold")
        said = cell(found.text)
        drawn += [heading.append_text(cell(_place(found))), said, cell(_reason(found)), Text("")]
    if not drawn:
        drawn.append(Text("Nothing that was said answers this query."))
    for count, told in ((answer.waiting, _WAITING), (answer.left_out, _LEFT_OUT)):
        if count:
            drawn.append(Text(told.format(count)))
    return drawn


def _place(found: "FoundMessage") -> str:
    who = found.name or found.role
    when = found.at or f"{found.ts:%Y-%m-%d %H:%M}"
    return f"{who}, {when} · {found.conversation_id}, message {found.position}"


def _reason(found: "FoundMessage") -> str:
    why = found.why
    said = [f"says {', '.join(why.words)}"] if why.words else []
    near = [f"near {', '.join(why.nearby)}"] if why.nearby else []
    meant = [f"meaning {why.meaning:.2f}"] if why.meaning is not None else []
    return "; ".join([*said, *near, *meant])
