"""The command line's root: its own options, and every room's commands."""

from typing import Annotated

import typer

from memoranda.surfaces.cli import (
    access,
    briefs,
    chat_runs,
    chats,
    conversation_ends,
    conversation_search,
    conversation_sizes,
    conversations,
    definitions,
    demo,
    doctor,
    dossier,
    embedder,
    exchange,
    exits,
    file_proposals,
    files,
    finding,
    graphs,
    inbox,
    kept,
    knowledge,
    knowledge_model,
    load,
    mcp,
    memories,
    memory_changes,
    migrate,
    proposals,
    removal,
    runs,
    serve,
    state,
    tools,
)
from memoranda.surfaces.cli.help import PlainRoot
from memoranda.surfaces.cli.options import Db, Json, Organization
from memoranda.surfaces.cli.session import Choices
from memoranda.surfaces.cli.verbs import closed_verb, verb

app = typer.Typer(
    name="memoranda",
    cls=PlainRoot,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog=exits.help_text(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(*, wanted: bool) -> None:
    if wanted:
        from memoranda import __version__

        typer.echo(f"memoranda {__version__}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    *,
    db: Db = None,
    organization: Organization = None,
    as_json: Json = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where an unexpected error comes from.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            is_eager=True,
            callback=lambda value: _version(wanted=value),
        ),
    ] = False,
) -> None:
    """Decides what an agent's run may know, and shows exactly what reaches the model."""
    del version
    ctx.obj = Choices(db=db, organization=organization, as_json=as_json, traceback=traceback)


verb(app, "brief", reads=True)(briefs.brief)
_memories = memories.register(app)
memory_changes.register(_memories)
finding.register(app, _memories)
proposals.register(app, _memories)
tools.register(app)
inbox.register(app)
removal.register(_memories)
exchange.register(app)
app.add_typer(knowledge.knowledge, name="knowledge")
knowledge_model.register(knowledge.knowledge)
conversation_search.register(conversations.conversations)
conversation_sizes.register(conversations.conversations)
conversation_ends.register(conversations.conversations)
app.add_typer(conversations.conversations, name="conversations")
chat_runs.register(chats.chats)
app.add_typer(chats.chats, name="chats")
kept.register(app, conversations.conversations)
app.add_typer(graphs.graphs, name="graphs")
app.add_typer(embedder.embedder, name="embedder")
app.add_typer(briefs.policies, name="policies")
app.add_typer(runs.runs, name="runs")
app.add_typer(dossier.dossier, name="dossier")
app.add_typer(definitions.definitions, name="definitions")
app.add_typer(load.load, name="load")
file_proposals.register(files.register(app))
app.add_typer(state.state, name="state")
app.add_typer(access.organizations, name="organizations")
app.add_typer(access.users, name="users")
app.add_typer(access.agents, name="agents")
app.add_typer(access.keys, name="keys")
closed_verb(app, "serve")(serve.serve)
verb(app, "worker")(serve.worker)
closed_verb(app, "mcp")(mcp.mcp)
closed_verb(app, "migrate")(migrate.migrate)
closed_verb(app, "doctor")(doctor.doctor)
closed_verb(app, "demo")(demo.demo)
