"""The bar that counts what a long piece of work has done."""

import sys
from typing import TYPE_CHECKING

from memoranda.surfaces.cli.output import console_for
from memoranda.surfaces.cli.session import Session

if TYPE_CHECKING:
    from rich.progress import Progress


def counting_bar(at: Session) -> "Progress":
    """On standard error, when a person is watching; it goes when the work is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console_for(sys.stderr),
        transient=True,
        disable=at.choices.as_json or not sys.stderr.isatty(),
    )
