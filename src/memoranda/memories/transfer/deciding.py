"""What becomes of each entry, told from what there is and what earlier lines said; nothing is written."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from memoranda.memories.counts import store as counts
from memoranda.memories.heads import store as heads
from memoranda.memories.heads.store import head_of
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.proposals import store as inbox
from memoranda.memories.transfer import store
from memoranda.memories.transfer.entry import State
from memoranda.memories.transfer.models import Outcome
from memoranda.memories.transfer.plan import Item, Piece
from memoranda.memories.transfer.seen import Identity, Seen
from memoranda.storage import Row, Transaction


class Decision(NamedTuple):
    """What becomes of an entry: the memories to write, or why there are none.

    `touched` are chains that are there and will be added to.
    """

    line: int
    outcome: Outcome
    state: State
    takes: tuple[Piece, ...] = ()
    touched: tuple[UUID, ...] = ()
    how: tuple[str, ...] = ()
    code: str | None = None
    detail: str | None = None
    memory_id: UUID | None = None
    same_as: int | None = None


class Known(NamedTuple):
    """That something says this already: a memory, or an earlier line."""

    memory_id: UUID | None = None
    same_as: int | None = None


class Barred(NamedTuple):
    """That something stands in the way, which an import does not change."""

    detail: str


class Free(NamedTuple):
    """That it may be written; an ended chain may be there for it to go on with."""

    chain: UUID | None = None


class Desk:
    """Decides one entry after the other within one transaction."""

    def __init__(
        self, tx: Transaction, items: Iterable[Item], seen: Seen, limits: MemoryLimits, *, dry: bool
    ) -> None:
        self._tx = tx
        self._seen = seen
        now, gone = counts.counts(tx), counts.expired(tx)
        # What a real run has taken so far is among the counts.
        active, pinned, waits = (seen.active, seen.pinned, seen.waits) if dry else (0, 0, 0)
        self._limits = limits
        self._room = limits.active - (now.active - gone.active) - active
        self._pins = limits.pinned - (now.pinned - gone.pinned) - pinned
        self._inbox = limits.waiting - now.waiting - waits
        forgotten = [item for item in items if item.state is State.FORGOTTEN]
        self._forgotten = _forgotten(tx, forgotten) if forgotten else {}

    def decide(self, item: Item) -> Decision:
        """What becomes of the entry; what it would write is noted as seen."""
        expiry = item.pieces[0].candidate.expires_at
        if expiry is not None and expiry <= self._tx.now:
            return _refused(item, "expired", "It has expired by now.")
        if item.state is State.FORGOTTEN:
            return self._decide_forgotten(item)
        if item.state is State.PROPOSED:
            return self._decide_proposal(item)
        return self._decide_active(item)

    def _decide_active(self, item: Item) -> Decision:
        takes: list[Piece] = []
        touched: list[UUID] = []
        known: Known | None = None
        for piece in item.pieces:
            found = self._live(piece)
            if isinstance(found, Barred):
                return _refused(item, "conflict", found.detail)
            if isinstance(found, Known):
                known = known or found
            elif piece.mark.digest not in {take.mark.digest for take in takes}:
                takes.append(piece)
                touched += [found.chain] if found.chain else []
        if not takes:
            return _known(item, known or Known())
        if len(takes) > self._room:
            limit = self._limits.active
            return _refused(
                item,
                "memories_full",
                f"This organization has {limit} active memories, as many as it may: this and what follows "
                "is left out. Forget some of them, or raise MEMORANDA_MAX_MEMORIES, and take it in again.",
            )
        return self._take(item, takes, touched)

    def _take(self, item: Item, takes: list[Piece], touched: list[UUID]) -> Decision:
        how = item.how
        pins = sum(piece.candidate.pinned for piece in takes)
        if pins > self._pins:
            pins, how = 0, (*how, "pin_left_out")
            takes = [
                piece._replace(candidate=piece.candidate._replace(pinned=False)) for piece in takes
            ]
        self._room -= len(takes)
        self._pins -= pins
        self._seen.active += len(takes)
        self._seen.pinned += pins
        for piece in takes:
            said = piece.candidate
            self._seen.add(piece.spelled, said.subject_key, said.text, piece.mark.digest, item.line)
        return Decision(
            item.line,
            "changed" if how else "taken",
            item.state,
            takes=tuple(takes),
            touched=tuple(touched),
            how=how,
        )

    def _decide_forgotten(self, item: Item) -> Decision:
        """The same thing may have been forgotten several times; each of them is known once."""
        known: Known | None = None
        takes: list[Piece] = []
        for piece in item.pieces:
            identity = _identity(piece)
            there, met = self._forgotten.get(identity, []), self._seen.forgotten(identity)
            found = Known(there[met]) if met < len(there) else self._never_forgotten(piece)
            if isinstance(found, Barred):
                return _refused(item, "conflict", found.detail)
            self._seen.add_forgotten(identity, item.line, taken=not isinstance(found, Known))
            if isinstance(found, Known):
                known = known or found
            else:
                takes.append(piece)
        if not takes:
            return _known(item, known or Known())
        outcome: Outcome = "changed" if item.how else "taken"
        return Decision(item.line, outcome, item.state, takes=tuple(takes), how=item.how)

    def _never_forgotten(self, piece: Piece) -> Known | Barred | Free:
        """Whether it may begin and end a chain of its own."""
        key = piece.candidate.subject_key
        if key is None:
            row = heads.holder_of(self._tx, piece.candidate.audience, piece.mark)
            return Known(row.id) if row is not None and head_of(row).holds(self._tx.now) else Free()
        before = self._seen.key((piece.spelled, key))
        if before is not None:
            return Barred(f"Line {before.line} stands under the same attribute.")
        row = store.under_key(self._tx, piece.spelled, key)
        return Free() if row is None else _barred(row)

    def _decide_proposal(self, item: Item) -> Decision:
        if len(item.pieces) > 1:
            return _refused(item, "over_limit", "It is too long for a proposal: shorten it.")
        piece = item.pieces[0]
        said = (piece.spelled, piece.candidate.subject_key, piece.mark.digest)
        before = self._seen.waiting(said)
        if before is not None:
            return _known(item, Known(same_as=before))
        found = self._living(piece)
        if isinstance(found, Known):
            return _known(item, found)
        twin = inbox.waiting_twin(self._tx, piece.candidate, piece.mark)
        if twin is not None and (twin.expires_at is None or twin.expires_at > self._tx.now):
            return _known(item, Known(twin.id))
        if self._inbox + store.lapsed_proposals(self._tx) <= 0:
            return _refused(
                item,
                "proposals_full",
                f"{self._limits.waiting} proposals wait, as many as may: decide on some of them, and take "
                "it in again.",
            )
        self._seen.add_waiting(said, item.line)
        outcome: Outcome = "changed" if item.how else "taken"
        return Decision(item.line, outcome, item.state, takes=(piece,), how=item.how)

    def _living(self, piece: Piece) -> Known | None:
        """What says already what a proposal would; another text under its key is no hindrance."""
        found = self._live(piece)
        return found if isinstance(found, Known) else None

    def _live(self, piece: Piece) -> Known | Barred | Free:
        """What an active memory would meet. What stands under its key and says something else stays."""
        key = piece.candidate.subject_key
        if key is None:
            return self._of_text(piece)
        before = self._seen.key((piece.spelled, key))
        if before is not None and before.text is not None:
            if before.text == piece.candidate.text:
                return Known(same_as=before.line)
            return Barred(f"Line {before.line} says something else under the same attribute.")
        row = store.under_key(self._tx, piece.spelled, key)
        if row is None:
            return Free()
        if not row.live or (row.expires_at is not None and row.expires_at <= self._tx.now):
            return Free(row.id)
        return Known(row.id) if row.text == piece.candidate.text else _barred(row)

    def _of_text(self, piece: Piece) -> Known | Free:
        before = self._seen.text((piece.spelled, piece.mark.digest))
        if before is not None:
            return Known(same_as=before)
        row = heads.holder_of(self._tx, piece.candidate.audience, piece.mark)
        if row is None:
            return Free()
        return Known(row.id) if head_of(row).holds(self._tx.now) else Free(row.id)


def _forgotten(tx: Transaction, items: Iterable[Item]) -> dict[Identity, list[UUID]]:
    """What these entries have as forgotten and can be restored here, by what it said."""
    texts = {piece.candidate.text for item in items for piece in item.pieces}
    found: defaultdict[Identity, list[UUID]] = defaultdict(list)
    for row in store.same_forgotten(tx, texts):
        found[row.audience, row.subject_key, row.text].append(row.id)
    return found


def _identity(piece: Piece) -> Identity:
    return (piece.spelled, piece.candidate.subject_key, piece.candidate.text)


def _barred(row: Row) -> Barred:
    return Barred(
        f"Memory {row.id} stands under this attribute and says something else; an import changes no memory."
    )


def _known(item: Item, by: Known) -> Decision:
    detail = (
        f"Line {by.same_as} says the same."
        if by.same_as is not None
        else f"{by.memory_id} says the same already."
    )
    return Decision(
        item.line, "known", item.state, detail=detail, memory_id=by.memory_id, same_as=by.same_as
    )


def _refused(item: Item, code: str, detail: str) -> Decision:
    return Decision(item.line, "refused", item.state, code=code, detail=detail)
