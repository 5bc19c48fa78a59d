"""What the tools of context files read."""

from typing import Final

from memoranda.access.models import Principal, Role
from memoranda.files.fence import fenced
from memoranda.files.models import AgentFile, ContextFile, LoadMode, WorkspaceFile
from memoranda.files.naming import unknown_file
from memoranda.files.service import Files
from memoranda.tools.files.inputs import GetContextFile
from memoranda.tools.models import Answer, Course

LOADED: Final = (
    "You have this file already: it is in the workspace context that you were given at the beginning. "
    "Go on with that."
)


class FileText(Answer):
    """A file. `text` is what it says, within a fence; of one that your run was given already it is null, and `note` says so."""

    slug: str
    title: str
    text: str | None
    hash: str
    revision: int
    note: str | None = None


class Reading:
    """The reading half of the tools."""

    def __init__(self, files: Files) -> None:
        self._files = files

    async def get(self, who: Principal, asked: GetContextFile, course: Course) -> FileText:
        """A file of the organization, or one of the agent's own, whole.

        In the course of a run, one that is always loaded is pointed to: its instructions hold it.
        Who calls outside of a run was given nothing.
        """
        if asked.slug in set(AgentFile) and who.role is Role.AGENT and who.space is None:
            return _text(await self._files.get(who, asked.slug, agent=who.agent_id))
        if asked.slug not in set(WorkspaceFile):
            raise unknown_file(WorkspaceFile)
        # A space has no files of its own: what its role may read, it may read.
        reader = who.model_copy(update={"space": None})
        file = await self._files.get(reader, asked.slug)
        given = course.run_id is not None and file.load_mode is LoadMode.ALWAYS
        return _pointer(file) if given else _text(file)


def _text(file: ContextFile) -> FileText:
    return FileText(
        slug=file.name,
        title=file.title,
        text=fenced(file.name, file.body),
        hash=file.hash,
        revision=file.revision,
    )


def _pointer(file: ContextFile) -> FileText:
    return FileText(
        slug=file.name,
        title=file.title,
        text=None,
        hash=file.hash,
        revision=file.revision,
        note=LOADED,
    )
