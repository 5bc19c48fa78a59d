"""`memoranda migrate`: brings the database to this version's schema."""

from rich.text import Text

from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Choices


def migrate(choices: Choices) -> Answer:
    """Make or upgrade the database's schema; it does no harm to run it again."""
    from memoranda.storage import migrate as bring_up
    from memoranda.storage.health import shown
    from memoranda.storage.schema import HEAD

    url = choices.settings().db
    bring_up(url)
    answer = {"database": shown(url), "schema": HEAD}
    return Answer(answer, lambda: [Text(f"{answer['database']} is at schema {HEAD}.")])
