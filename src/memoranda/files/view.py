"""The files as a run is given them: a view that writes nothing, whether they were ever touched or not."""

from uuid import UUID

from memoranda.files import store
from memoranda.files.body import EMPTY
from memoranda.files.models import (
    TITLES,
    AgentFile,
    FilesView,
    FileView,
    Place,
    WorkspaceFile,
)
from memoranda.files.store import Kept
from memoranda.storage import Transaction


def view(tx: Transaction, agent_id: UUID | None) -> FilesView:
    """Every workspace file, and every file of the agent, in their own order; what nobody wrote is empty."""
    there = {Place(file.agent_id, file.name): file for file in store.for_a_run(tx, agent_id)}
    return FilesView(
        workspace=[_seen(there, Place(None, name.value)) for name in WorkspaceFile],
        agent=[]
        if agent_id is None
        else [_seen(there, Place(agent_id, name.value)) for name in AgentFile],
    )


def _seen(there: dict[Place, Kept], place: Place) -> FileView:
    file = there.get(place)
    return FileView(
        name=place.name,
        title=TITLES[place.name],
        load_mode=store.first_mode(place.name, place.agent_id) if file is None else file.load_mode,
        body=EMPTY.text if file is None else file.body,
        hash=EMPTY.hash if file is None else file.hash,
        revision=1 if file is None else file.revision,
    )
