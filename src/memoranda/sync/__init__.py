"""A small synchronous face for scripts: the same code, run on an event loop of its own thread."""

from memoranda.settings import Settings
from memoranda.state.projections import HostState
from memoranda.sync.access import AccessVerbs
from memoranda.sync.briefs import BriefVerbs, Policies
from memoranda.sync.chats import Chats
from memoranda.sync.conversations import Conversations
from memoranda.sync.definitions import Definitions
from memoranda.sync.dossier import Dossier
from memoranda.sync.files import FileProposals, Files
from memoranda.sync.graphs import Graphs
from memoranda.sync.instructions import Instructions
from memoranda.sync.kept import Kept
from memoranda.sync.knowledge import Knowledge, KnowledgeVerbs
from memoranda.sync.memories import MemoryVerbs
from memoranda.sync.runs import Runs
from memoranda.sync.state import State
from memoranda.sync.tools import ToolVerbs

__all__ = ["Memoranda"]


class Memoranda(MemoryVerbs, KnowledgeVerbs, BriefVerbs, ToolVerbs, AccessVerbs):
    """The product for a script, acting as the owner of the default organization.

        with Memoranda("notes.db") as memoranda:
            memoranda.remember("Invoices go out on the first.")
            print(memoranda.brief("When do invoices go out?").text)

    What is used most is a verb of its own; the rest is by subsystem: `runs`, `knowledge`, `conversations`, `chats`,
    `graphs`, `kept`, `policies`, `dossier`, `definitions`, `files`, `file_proposals`, `instructions` and `state`, as in
    `memoranda.runs.create()`. Each verb promises and raises what the one of its name in the
    services does, and RuntimeError outside of the `with` block.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        state: HostState | None = None,
    ) -> None:
        super().__init__(url, settings=settings, state=state)
        self.runs = Runs(self._call)
        self.knowledge = Knowledge(self._call)
        self.conversations = Conversations(self._call)
        self.chats = Chats(self._call)
        self.graphs = Graphs(self._call)
        self.kept = Kept(self._call)
        self.policies = Policies(self._call)
        self.dossier = Dossier(self._call)
        self.definitions = Definitions(self._call)
        self.files = Files(self._call)
        self.file_proposals = FileProposals(self._call)
        self.instructions = Instructions(self._call)
        self.state = State(self._call)
