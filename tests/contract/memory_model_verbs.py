"""The verbs of memories as the documents tell of them, in dicts and lists: what the machine holds the product to."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.contract.memory_model import (
    LIMITS,
    MONTH,
    SCOUT,
    Answer,
    Audience,
    Chain,
    Op,
    Refusal,
    Said,
    Waiting,
    bound,
    check_change,
    check_role,
    check_version,
    edited,
    fold,
    knows,
    past,
    statement,
)


@dataclass
class State:
    """All that an organization's memories are. Each verb is given the id that the product gave to what is new."""

    now: datetime
    chains: dict[UUID, Chain] = field(default_factory=dict)
    proposals: dict[UUID, Waiting] = field(default_factory=dict)
    purged: dict[UUID, Audience] = field(default_factory=dict)
    dropped: int = 0
    cleared: list[datetime] = field(default_factory=list)
    events: list[Answer] = field(default_factory=list)

    def after(self, op: Op, born: UUID | None) -> tuple["State", Answer]:
        """The state once `op` is done, and its answer; a refusal changes nothing."""
        then = copy.deepcopy(self)
        try:
            check_role(op)
            verb = getattr(then, op.verb)
            args = () if op.target is None else (op.target,)
            answer = verb(op.who, *args, born=born, **op.given)
            then.check_room(self)
        except Refusal as refusal:
            return self, ("refused", str(refusal))
        return then, answer

    def check_room(self, before: "State") -> None:
        """What grows may not grow beyond its limit; what has expired takes no room."""
        if len(before.live()) < len(self.live()) > LIMITS.active:
            raise Refusal("memories_full")
        pinned = [chain for chain in self.live() if chain.pinned]
        if sum(chain.pinned for chain in before.live()) < len(pinned) > LIMITS.pinned:
            raise Refusal("pins_full")

    # --- memories -----------------------------------------------------------------------------

    def remember(self, who: str, *, born: UUID | None, **given: Any) -> Answer:
        audience = bound(who, given)
        said = self._statement(given)
        chain = self.add(audience, given.get("attribute"), said, born, pinned=given.get("pinned"))
        self.tell(chain, "created" if chain.version == 1 else "updated")
        return self.memory(chain)

    def update(self, who: str, target: UUID, *, born: UUID | None, **given: Any) -> Answer:
        chain = self._changeable(who, target)
        to = Audience(
            given.get("user", chain.audience.user), given.get("agent", chain.audience.agent)
        )
        if to != chain.audience:
            check_change(who, to)
        if chain.ended:
            raise Refusal("conflict")
        if not chain.live(self.now):
            raise Refusal("not_found")
        check_version(chain, given)
        new = edited(chain.head, given, self.now)
        pinned = given.get("pinned", chain.pinned)
        if to != chain.audience:
            return self._move(chain, to, new, born, pinned=pinned)
        if statement(new) != statement(chain.head):
            self._edit(chain, new, pinned=pinned)
        elif pinned != chain.pinned:
            chain.pinned = pinned
            self.tell(chain, "pinned" if pinned else "unpinned")
        elif "text" in given:
            raise Refusal("duplicate_memory")
        return self.memory(chain)

    def forget(self, who: str, target: UUID, *, born: UUID | None, **given: Any) -> Answer:
        chain = self._changeable(who, target)
        if chain.ended:
            raise Refusal("conflict")
        check_version(chain, given)
        self.end(chain)
        self.tell(chain, "forgotten")
        return self.memory(chain)

    def restore(self, who: str, target: UUID, *, born: UUID | None) -> Answer:
        self._check_not_purged(who, target)
        chain = self._changeable(who, target)
        if chain.live(self.now) or (chain.ended and chain.head.goes_on):
            raise Refusal("conflict")
        if not chain.ended:
            raise Refusal("not_found")
        if chain.restorable_until() <= self.now:
            raise Refusal("not_restorable")
        again = copy.copy(chain.said[-2])
        again.at = self.now
        gone = self._stand_aside(chain, again)
        chain.said.append(again)
        self.tell(chain, "restored")
        for each in gone:
            self.tell(each, "merged")
        return self.memory(chain)

    def add(
        self,
        audience: Audience,
        attribute: str | None,
        said: Said,
        born: UUID | None,
        *,
        pinned: bool | None = False,
    ) -> Chain:
        """Begin a chain, or go on with the one of the attribute, or with an expired one of the text."""
        held = self._under(audience, attribute, said)
        if held is None:
            chain = Chain(self._new(born), audience, attribute, [], bool(pinned))
            self.chains[chain.id] = chain
        elif held.live(self.now) and (attribute is None or held.head.text == said.text):
            raise Refusal("duplicate_memory")
        else:
            chain = held
            chain.pinned = bool(pinned) or (held.live(self.now) and held.pinned)
        chain.said.append(said)
        return chain

    def end(self, chain: Chain, goes_on: UUID | None = None) -> None:
        chain.said.append(Said(None, None, None, self.now, goes_on))
        chain.pinned = False

    def _edit(self, chain: Chain, new: Said, *, pinned: bool) -> None:
        gone = self._stand_aside(chain, new) if new.text != chain.head.text else []
        chain.said.append(new)
        chain.pinned = pinned
        self.tell(chain, "updated")
        for each in gone:
            self.tell(each, "merged")

    def _move(
        self, chain: Chain, to: Audience, said: Said, born: UUID | None, *, pinned: bool
    ) -> Answer:
        there = self._under(to, chain.attribute, said)
        if there is not None and there.live(self.now):
            raise Refusal("conflict")
        moved = self.add(to, chain.attribute, said, born, pinned=pinned)
        if there is None:
            moved.came_from = chain.id
        self.end(chain, goes_on=moved.id)
        self.tell(moved, "moved")
        self.tell(chain, "moved")
        return self.memory(moved)

    def _under(self, audience: Audience, attribute: str | None, said: Said) -> Chain | None:
        """The chain that a statement comes to."""
        there = [each for each in self.chains.values() if each.audience == audience]
        if attribute is not None:
            return next((each for each in there if each.attribute == attribute), None)
        same = [
            each for each in there if not each.ended and fold(each.head.text) == fold(said.text)
        ]
        holding = [each for each in same if each.live(self.now)]
        expired = [each for each in same if each.attribute is None]
        return next(iter(holding + expired), None)

    def _stand_aside(self, chain: Chain, said: Said) -> list[Chain]:
        """What has expired and says what `chain` is to say ends in it; what is live refuses it."""
        if chain.attribute is not None:
            return []
        others = {key: each for key, each in self.chains.items() if key != chain.id}
        other = State(self.now, others)._under(chain.audience, None, said)
        if other is None:
            return []
        if other.live(self.now):
            raise Refusal("duplicate_memory")
        self.end(other, goes_on=chain.id)
        return [other]

    def _statement(self, given: Mapping[str, Any]) -> Said:
        if past(given.get("expires"), self.now):
            raise Refusal("invalid_input")
        return Said(given["text"], given.get("title"), given.get("expires"), self.now)

    def _new(self, born: UUID | None) -> UUID:
        """The id that the product gave, unless it made nothing new: then any other one shows it."""
        return uuid4() if born is None or born in self.chains else born

    def _changeable(self, who: str, target: UUID) -> Chain:
        chain = self.chains.get(target)
        if chain is None or not knows(who, chain.audience):
            raise Refusal("not_found")
        check_change(who, chain.audience)
        return chain

    def _check_not_purged(self, who: str, target: UUID) -> None:
        if target in self.purged and knows(who, self.purged[target]):
            raise Refusal("not_restorable")

    # --- proposals ----------------------------------------------------------------------------

    def propose(self, who: str, *, born: UUID | None, **given: Any) -> Answer:
        audience = bound(who, given)
        attribute = given.get("attribute")
        said = self._statement(given)
        twin = next(
            (
                each
                for each in self.proposals.values()
                if each.status == "waiting"
                and (each.audience, each.attribute) == (audience, attribute)
                and fold(each.said.text) == fold(said.text)
            ),
            None,
        )
        lapsed = twin is not None and self.has_expired(twin)
        if lapsed or len(self.waiting()) >= LIMITS.waiting:
            for each in filter(self.has_expired, self.waiting()):  # nobody can accept it any more
                each.status, each.decided_at = "discarded", self.now
        twin = None if lapsed else twin
        chain = self._under(audience, attribute, said)
        same = chain is not None and (attribute is None or chain.head.text == said.text)
        if chain is not None and same and chain.live(self.now):
            return ("known", chain.id)
        if twin is not None:
            return ("known", twin.id)
        if len(self.waiting()) >= LIMITS.waiting:
            self.dropped += 1
            return ("dropped", None)
        new = self._new(born)
        by_agent = "scout" if who == SCOUT else audience.agent
        self.proposals[new] = Waiting(new, audience, attribute, said, by_agent)
        self.events.append((new, None, "proposed", *audience))
        return ("waiting", new)

    def accept(
        self, who: str, target: UUID, *, born: UUID | None, text: str | None = None
    ) -> Answer:
        proposal = self._decidable(who, target)
        if proposal.status != "waiting" or past(proposal.said.expires, self.now):
            raise Refusal("conflict")
        return self._become(proposal, text or proposal.said.text, "accepted")

    def discard(self, who: str, target: UUID, *, born: UUID | None) -> Answer:
        proposal = self._decidable(who, target)
        if proposal.status != "waiting":
            raise Refusal("conflict")
        proposal.status, proposal.decided_at = "discarded", self.now
        self.events.append((target, None, "discarded", *proposal.audience))
        return ("discarded", target)

    def restore_proposal(self, who: str, target: UUID, *, born: UUID | None) -> Answer:
        self._check_not_purged(who, target)
        proposal = self._decidable(who, target)
        if proposal.status != "discarded":
            raise Refusal("conflict")
        if proposal.restorable_until() <= self.now:
            raise Refusal("not_restorable")
        stands = proposal.attribute and self._under(
            proposal.audience, proposal.attribute, proposal.said
        )
        if stands and stands.live(self.now):
            raise Refusal("conflict")
        return self._become(proposal, proposal.said.text, "restored")

    def _become(self, proposal: Waiting, text: str | None, action: str) -> Answer:
        said = Said(text, proposal.said.title, proposal.said.expires, self.now)
        chain = self.add(proposal.audience, proposal.attribute, said, proposal.id)
        proposal.status, proposal.became = "accepted", chain.id
        self.tell(chain, action)
        return self.memory(chain)

    def _decidable(self, who: str, target: UUID) -> Waiting:
        proposal = self.proposals.get(target)
        if proposal is None or not knows(who, proposal.audience):
            raise Refusal("not_found")
        check_change(who, proposal.audience)
        return proposal

    # --- removal ------------------------------------------------------------------------------

    def forget_all(self, who: str, *, born: UUID | None) -> Answer:
        if sum(at > self.now - timedelta(hours=1) for at in self.cleared) >= 3:
            raise Refusal("too_often")
        ended = [chain for chain in self.chains.values() if not chain.ended]
        for chain in ended:
            self.end(chain)
        for proposal in self.waiting():
            proposal.status, proposal.decided_at = "discarded", self.now
        self.cleared.append(self.now)
        self.events.append((None, None, "cleared", None, None))
        return ("forgot", len(ended))

    def erase(self, who: str, target: UUID, *, born: UUID | None) -> Answer:
        if target not in self.chains and target not in self.purged:
            raise Refusal("not_found")
        fact = self._one_fact(target)
        same = {(key.audience, fold(said.text)) for key in fact for said in key.said if said.text}
        gone = {chain.id for chain in fact}
        gone |= {
            chain.id
            for chain in self.chains.values()
            if chain.ended and any((chain.audience, fold(each.text)) in same for each in chain.said)
        }
        keys = {(chain.audience, chain.attribute) for chain in fact if chain.attribute}
        proposals = [
            each
            for each in self.proposals.values()
            if each.became in gone
            or (
                each.status != "accepted"
                and {(each.audience, fold(each.said.text)), (each.audience, each.attribute)}
                & (same | keys)
            )
        ]
        return ("erased", *self._purge(gone, proposals))

    def purge_due(self, who: str, *, born: UUID | None) -> Answer:
        due = {
            key
            for key, each in self.chains.items()
            if each.ended and each.head.at + MONTH <= self.now
        }
        proposals = [
            each
            for each in self.proposals.values()
            if each.became in due
            or (each.status == "discarded" and not self.is_kept(each))
            or (each.status == "waiting" and self.has_expired(each))
        ]
        return ("purged", sum(self._purge(due, proposals)))

    def _one_fact(self, target: UUID) -> list[Chain]:
        """What it was before, and all that this went on as, at any time."""
        links = [
            (chain.id, said.goes_on) for chain in self.chains.values() for said in chain.said
        ] + [(chain.came_from, chain.id) for chain in self.chains.values()]
        back, ahead = {target}, {target}
        for _ in range(len(links) + 1):
            for before, after in links:
                if before in ahead and after is not None:
                    ahead.add(after)
                    back.add(after)
                if after in back and before is not None:
                    back.add(before)
        return [chain for chain in self.chains.values() if chain.id in back | ahead]

    def _purge(self, fact: set[UUID], proposals: list[Waiting]) -> tuple[int, int]:
        for key in sorted(fact):
            chain = self.chains.pop(key)
            self.purged[key] = chain.audience
            self.tell(chain, "purged")
        for each in proposals:
            del self.proposals[each.id]
            if each.status != "accepted":
                self.purged.setdefault(each.id, each.audience)
        return len(fact), len(proposals)

    # --- what is there ------------------------------------------------------------------------

    def live(self) -> list[Chain]:
        return [chain for chain in self.chains.values() if chain.live(self.now)]

    def is_kept(self, proposal: Waiting) -> bool:
        """Whether a discarded proposal is still listed."""
        return proposal.decided_at is not None and proposal.decided_at + MONTH > self.now

    def has_expired(self, proposal: Waiting) -> bool:
        return past(proposal.said.expires, self.now)

    def waiting(self) -> list[Waiting]:
        return [each for each in self.proposals.values() if each.status == "waiting"]

    def tell(self, chain: Chain, action: str) -> None:
        self.events.append((chain.id, chain.version, action, *chain.audience))

    def memory(self, chain: Chain) -> Answer:
        """The memory as a verb answers it; a forgotten one says what it said."""
        said = chain.said[-2] if chain.ended else chain.head
        kept = chain.restorable_until() if chain.forgotten else None
        shown = (said.text, said.title, said.expires, chain.pinned, kept)
        return (chain.id, chain.version, *shown, *chain.audience)
