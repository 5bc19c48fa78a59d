"""Does to the product what the machine of memories does to its model, and tells both in the same words."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.memories.models import (
    Memory,
    MemoryStatus,
    Proposal,
    ProposalStatus,
    Proposed,
)
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.removal.models import Erased
from memoranda.memories.removal.service import CONFIRMED, Removal
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.runs.events.service import Events
from memoranda.storage import Storage
from memoranda.words.errors import MemorandaError
from tests.contract.memory_model import ANNA, LIMITS, OWNER, SCOUT, Answer, Op, Waiting, fold, knows
from tests.contract.memory_model_verbs import State
from tests.contract.tenants import Tenant

PARAMETERS: Final = {
    "user": "user_id",
    "agent": "agent_id",
    "expires": "expires_at",
    "version": "expected_version",
}


async def _quoted_nowhere(organization: UUID, texts: object, but: UUID | None) -> list[UUID]:
    return []


class Desk:
    """The product for one organization: calls verbs, and reads all that people see."""

    def __init__(self, storage: Storage, tenant: Tenant) -> None:
        ways = Ways(LIMITS)
        self.memories = Memories(storage, ways)
        self.proposals = Proposals(storage, ways)
        self.removal = Removal(storage, ways, quoting=_quoted_nowhere)
        self.events = Events(storage)
        self.keys: dict[str, Principal] = {
            OWNER: tenant.owner,
            ANNA: tenant.member(tenant.anna),
            SCOUT: tenant.key_of(tenant.scout, tenant.ben),
        }
        self.id_of = {"anna": tenant.anna.id, "ben": tenant.ben.id, "scout": tenant.scout.id}
        self.name_of: dict[UUID | None, str] = {each: name for name, each in self.id_of.items()}

    async def do(self, op: Op) -> tuple[Answer, UUID | None]:
        """The answer, and the id of the memory or proposal that it is about."""
        try:
            found = await self._call(op)
        except MemorandaError as refused:
            return ("refused", refused.code), None
        match found:
            case Memory():
                return self._memory(found), found.id
            case Proposed():
                about = found.memory or found.proposal
                known = None if about is None else about.id
                return (found.outcome, known), known
            case Proposal():
                return (str(found.status), found.id), None
            case Erased():
                return ("erased", found.memories, found.proposals), None
            case _:
                return ("forgot" if op.verb == "forget_all" else "purged", found), None

    async def _call(self, op: Op) -> object:
        who = self.keys[op.who]
        if op.verb == "forget_all":
            return await self.removal.forget_all(who, CONFIRMED)
        if op.verb == "purge_due":
            assert who.organization_id is not None
            return await self.removal.purge_due(who.organization_id)
        verb: Any = {
            "erase": self.removal.erase,
            "propose": self.proposals.propose,
            "accept": self.proposals.accept,
            "discard": self.proposals.discard,
            "restore_proposal": self.proposals.restore,
        }.get(op.verb) or getattr(self.memories, op.verb)
        return await verb(who, *filter(None, [op.target]), **self._given(op.given))

    def _given(self, given: Mapping[str, Any]) -> dict[str, Any]:
        named = {"user", "agent"}
        return {
            PARAMETERS.get(name, name): self.id_of[value] if name in named and value else value
            for name, value in given.items()
        }

    async def seen(self, who: str) -> dict[str, Any]:
        """The lists and numbers that one reader is shown."""
        key = self.keys[who]
        stats = await self.memories.stats(key)
        numbers = (stats.active, stats.pinned, stats.forgotten, stats.proposed, stats.dropped)
        return {
            "stats": numbers,
            **{
                str(status): [
                    self._memory(each)
                    for each in (await self.memories.page(key, status=status)).items
                ]
                for status in MemoryStatus
            },
            **{
                str(status): [
                    (each.id, each.text, each.title, each.expires_at, *self._audience(each))
                    for each in (await self.proposals.page(key, status=status)).items
                ]
                for status in (ProposalStatus.WAITING, ProposalStatus.DISCARDED)
            },
        }

    async def found(self, who: str, word: str) -> set[UUID]:
        search = await self.memories.search(self.keys[who], word)
        return {each.memory.id for each in search.results}

    async def history(self, memory_id: UUID) -> list[Answer]:
        history = await self.memories.history(self.keys[OWNER], memory_id)
        assert [each.version for each in history] == list(range(1, len(history) + 1))
        last = history[-1].continued_by_id
        return [
            *((each.text, each.title, each.expires_at, each.created_at) for each in history),
            (last,),
        ]

    async def told(self, after: int) -> list[Answer]:
        """The events after that number, each one more than the one before."""
        page = await self.events.page(self.keys[OWNER], after, limit=500)
        told = list(range(after + 1, after + 1 + len(page.items)))
        assert ([each.number for each in page.items], page.reset) == (told, False)
        events = []
        for each in page.items:
            name = each.metadata.get("memory_id") or each.metadata.get("proposal_id")
            what = (name and UUID(name), each.metadata.get("version"), each.metadata["action"])
            events.append((*what, *self._audience(each)))
        return events

    def _memory(self, found: Memory) -> Answer:
        said = (found.text, found.title, found.expires_at, found.pinned, found.restorable_until)
        return (found.id, found.version, *said, *self._audience(found))

    def _audience(self, found: Any) -> tuple[str | None, str | None]:
        return self.name_of.get(found.user_id), self.name_of.get(found.agent_id)


def expected(state: State, who: str) -> dict[str, Any]:
    """What `Desk.seen` has to be."""
    known = [chain for chain in _newest(state.chains) if knows(who, chain.audience)]
    active = [chain for chain in known if chain.live(state.now)]
    forgotten = [chain for chain in known if chain.forgotten]
    proposals = [each for each in _newest(state.proposals) if _sees(who, each)]
    waiting = [
        each for each in state.waiting() if each in proposals and not state.has_expired(each)
    ]
    waiting.sort(key=proposals.index)
    pinned = sum(chain.pinned for chain in active)
    dropped = state.dropped if who == OWNER else 0
    return {
        "stats": (len(active), pinned, len(forgotten), len(waiting), dropped),
        "active": [state.memory(chain) for chain in active],
        "forgotten": [
            state.memory(chain) for chain in forgotten if chain.restorable_until() > state.now
        ],
        "waiting": [_proposal(each) for each in waiting],
        "discarded": [
            _proposal(each)
            for each in proposals
            if each.status == "discarded" and state.is_kept(each) and not state.has_expired(each)
        ],
    }


def expected_found(state: State, who: str, word: str) -> set[UUID]:
    """What `Desk.found` has to be: all that is live and holds the word."""
    return {
        chain.id
        for chain in state.live()
        if knows(who, chain.audience)
        and word in f"{fold(chain.head.text)} {fold(chain.head.title)}"
    }


def expected_history(state: State, memory_id: UUID) -> list[Answer]:
    chain = state.chains[memory_id]
    said = [(each.text, each.title, each.expires, each.at) for each in chain.said]
    return [*said, (chain.head.goes_on,)]


def _newest(things: Mapping[UUID, Any]) -> list[Any]:
    return [things[key] for key in sorted(things, reverse=True)]


def _sees(who: str, proposal: Waiting) -> bool:
    own = who != SCOUT or proposal.by_agent == "scout"
    return own and knows(who, proposal.audience)


def _proposal(proposal: Waiting) -> Answer:
    said = proposal.said
    return (proposal.id, said.text, said.title, said.expires, *proposal.audience)
