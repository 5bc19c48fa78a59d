"""`memoranda embedder`: what finds memories by meaning, how far it is, and how its scores are fitted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.bars import counting_bar
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Choices, Session
from memoranda.surfaces.cli.tables import card, counted, table
from memoranda.surfaces.cli.verbs import closed_verb, group, verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from uuid import UUID

    from rich.console import RenderableType

    from memoranda.search.embedders.choice import Embedders
    from memoranda.search.labelled import Fitted
    from memoranda.search.vectors.store import Progress

embedder = group("What finds memories by meaning: look at it, let it work, fit its scores.")

NONE: Final = "MEMORANDA_EMBEDDER is none: memories are found by their words alone."


@verb(embedder, "status", reads=True)
async def show_status(at: Session) -> Answer:
    """Show which embedder is set, which model answers searches, and how far its vectors are made."""
    embedding, vectors = at.memoranda.embedding, at.memoranda.vectors
    progress = await embedding.progress(_organization(at))
    status = {
        "embedder": at.memoranda.settings.embedder,
        "model": vectors.models[0] if vectors else None,
        "serving": await embedding.serving(_organization(at)),
        **({} if progress is None else progress._asdict()),
        "trouble": await embedding.trouble(),
    }
    return Answer(status, lambda: [card(status)])


@verb(embedder, "run")
async def make_vectors(at: Session) -> Answer:
    """Make the vectors that the organization's memories lack. Exit code 10 when some could not be made."""
    from memoranda.words.ids import new_id

    embedding, organization_id = at.memoranda.embedding, _organization(at)
    while await embedding.sweep(organization_id):
        pass  # words first: they are read anew without an embedder too
    progress = await _progress(at)
    worker_id = new_id()
    with counting_bar(at) as bar:
        task = bar.add_task("Embedding memories", total=None)
        while await embedding.serve(organization_id, worker_id):
            progress = await _progress(at)
            bar.update(task, completed=progress.made, total=sum(progress))
    left = progress.waiting + progress.given_up
    told = f"{counted(progress.made, 'memory', 'memories')} can be found by meaning."
    if left:
        told += f" {left} could not be embedded yet; memoranda worker or the next run tries again."
        told = " ".join([told, *filter(None, [await embedding.trouble()])])
    return Answer(
        progress._asdict(),
        lambda: [Text(told)],
        exits.UNSUCCESSFUL if left else exits.DONE,
    )


@closed_verb(embedder, "fit")
def fit_curve(
    choices: Choices,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSON Lines of query, memory and relevant (true or false), a few hundred of them.",
        ),
    ],
) -> Answer:
    """Fit the curve that makes scores of the model's cosines, and print the settings that use it."""
    import asyncio

    from memoranda.search.embedders.choice import choose

    settings = choices.settings()
    embedders = choose(settings)
    if embedders is None:
        raise Invalid(f"{NONE} Set the embedder whose scores are to be fitted.", field="embedder")
    fitted = asyncio.run(_fitted(embedders, file))
    value = {
        "model": embedders.live.model,
        "slope": round(fitted.curve.slope, 2),
        "middle": round(fitted.curve.middle, 3),
        "fitted_to": fitted.fitted_to,
        "checked_on": fitted.checked_on,
        "figures": [
            {"score": score, "precision": found.precision, "recall": found.recall}
            for score, found in fitted.figures.items()
        ],
    }
    settable = settings.embedder == "endpoint"
    return Answer(value, lambda: _drawn(fitted, settable=settable))


async def _fitted(embedders: "Embedders", file: Path) -> "Fitted":
    from memoranda.search.labelled import fit_and_check, read_pairs

    try:
        return await fit_and_check(embedders.live, read_pairs(file))
    finally:
        await embedders.close()


def _drawn(fitted: "Fitted", *, settable: bool) -> "list[RenderableType]":
    slope, middle = f"{fitted.curve.slope:.2f}", f"{fitted.curve.middle:.3f}"
    curve = (
        f"MEMORANDA_EMBEDDER_SLOPE={slope}\nMEMORANDA_EMBEDDER_MIDDLE={middle}"
        if settable
        else f"Slope {slope}, middle {middle}. The bundled model has its own curve: only an "
        "endpoint's can be set."
    )
    rows = [
        (f"{score:.2f}", f"{found.precision:.2f}", f"{found.recall:.2f}")
        for score, found in fitted.figures.items()
    ]
    pairs = f"Fitted to {fitted.fitted_to} pairs, checked on {fitted.checked_on} others:"
    return [Text(curve), Text(pairs), table(("#score", "#precision", "#recall"), rows)]


def _organization(at: Session) -> "UUID":
    return cast("UUID", at.who.organization_id)  # a command acts as an owner, who has one


async def _progress(at: Session) -> "Progress":
    progress = await at.memoranda.embedding.progress(_organization(at))
    if progress is None:
        raise Invalid(f"{NONE} Set it to bundled or endpoint.", field="embedder")
    return progress
