"""The verbs of tools: call them, and what people say of agents' calls."""

from datetime import timedelta

from memoranda.memories.announce import Changed, nobody
from memoranda.storage import Storage
from memoranda.tools.approvals.service import Approvals
from memoranda.tools.invoker import CALLS_PER_RUN, MOST_APPROVALS, RECEIPTS_KEPT, ToolInvoker
from memoranda.tools.journal.service import Journal
from memoranda.tools.policies.service import ToolPolicies
from memoranda.tools.registry import ToolRegistry
from memoranda.tools.spaces.service import ToolSpaces


class Tools(ToolInvoker):
    """What a model may call: the one door to it, and beside it what people decide and may look at.

    `policies` say what agents may do, `approvals` are calls that wait for a person, `spaces` are
    nodes of workflows that call tools, and `journal` has a line for each call.
    """

    def __init__(
        self,
        storage: Storage,
        registry: ToolRegistry,
        changed: Changed = nobody,
        *,
        calls_per_run: int = CALLS_PER_RUN,
        max_approvals: int = MOST_APPROVALS,
        kept: timedelta = RECEIPTS_KEPT,
    ) -> None:
        self.journal = Journal(storage, kept=kept)
        super().__init__(
            storage,
            registry,
            changed,
            journal=self.journal,
            calls_per_run=calls_per_run,
            max_approvals=max_approvals,
            receipts_kept=kept,
        )
        self.policies = ToolPolicies(storage, registry)
        self.spaces = ToolSpaces(storage, registry)
        self.approvals = Approvals(storage, registry, changed, kept=kept)
