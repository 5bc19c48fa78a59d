"""`memoranda knowledge model`: which model finds documents by meaning, and the switch to another."""

from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.bars import counting_bar
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, listed
from memoranda.surfaces.cli.verbs import verb

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.knowledge.models import ModelStatus

LOOK_AGAIN_SECONDS: Final = 0.2
OfPlatform = Annotated[
    bool, typer.Option("--platform", help="Of the documents that every organization may search.")
]


def register(knowledge: typer.Typer) -> None:
    """Put the commands beside those for documents."""
    verb(knowledge, "model", reads=True)(show_model)
    verb(knowledge, "switch")(switch_model)
    verb(knowledge, "cancel-switch")(cancel_switch)


async def show_model(at: Session, platform: OfPlatform = False) -> Answer:
    """Show which model's vectors answer searches, and how far a switch to the next one is."""
    return _told(await _status(at, platform=platform))


async def switch_model(
    at: Session,
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model at hand, or none for words alone.")
    ],
    *,
    platform: OfPlatform = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Switch though some documents fail: words find those."),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Do the work here, and come back when it is done.")
    ] = False,
) -> Answer:
    """Switch to another model: the old one answers until every document has its new vectors.

    Without --wait, memoranda serve or memoranda worker does the work. The same command again goes on,
    and tries again what failed. With --wait, exit code 10 says that documents failed, or wait for
    an embedder that is away.
    """
    status = await at.memoranda.knowledge.switch_model(
        at.whose(platform=platform), model, platform=platform, force=force
    )
    return _told(await _done(at, status, platform=platform) if wait else status, waited=wait)


async def cancel_switch(at: Session, platform: OfPlatform = False) -> Answer:
    """Leave the model that serves as it is; what was made of the next one is deleted."""
    return _told(
        await at.memoranda.knowledge.cancel_switch(at.whose(platform=platform), platform=platform)
    )


async def _status(at: Session, *, platform: bool) -> "ModelStatus":
    return await at.memoranda.knowledge.model(at.whose(platform=platform), platform=platform)


async def _done(at: Session, status: "ModelStatus", *, platform: bool) -> "ModelStatus":
    """Work until the model has changed and the old vectors are gone, or until only a person can help."""
    import asyncio

    from memoranda.storage import PLATFORM
    from memoranda.words.ids import new_id

    embedding, worker = at.memoranda.knowledge.embedding, new_id()
    scope = PLATFORM if platform else at.who.organization_id or PLATFORM
    with counting_bar(at) as bar:
        task = bar.add_task("Embedding documents", total=status.chunks)
        while status.waits_for is None:
            worked = await embedding.serve(scope, worker)
            if not worked and not await embedding.waiting(scope):
                break
            status = await _status(at, platform=platform)
            bar.update(task, completed=status.embedded, total=status.chunks)
            if not worked:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return await _status(at, platform=platform)


def _told(status: "ModelStatus", *, waited: bool = False) -> Answer:
    undone = waited and (status.next is not None or status.waits_for is not None)
    return Answer(
        status,
        lambda: _drawn(status),
        exits.UNSUCCESSFUL if undone else exits.DONE,
    )


def _drawn(status: "ModelStatus") -> "list[RenderableType]":
    model = status.next or status.active
    shown = {
        "model": status.active or "none: documents are found by their words alone",
        "next": status.next,
        "forced": "yes" if status.forced else None,
        "documents": f"{status.ready} of {status.sources} ready" if model else status.sources,
        "failed": status.failed or None,
        "vectors": f"{status.embedded} of {status.chunks}" if model else None,
        "waits for": status.waits_for,
        "at hand": ", ".join([*status.at_hand, "none"]),
    }
    drawn: list[RenderableType] = [card(shown)]
    if status.failures:
        rows = [(each.title, each.source_id, each.reason) for each in status.failures]
        drawn += [Text(""), *listed(("~document", "id", "~why it failed"), rows, empty="")]
    if status.next is not None and status.failed and not status.forced:
        failed = counted(status.failed, "document keeps", "documents keep")
        drawn.append(
            Text(
                f"{failed} {status.next} from serving. Put right what is wrong and switch again, "
                "or switch with --force: words find what failed."
            )
        )
    return drawn
