"""What calls of tools leave behind about a memory or a user, taken away with it."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.storage import Transaction
from memoranda.storage.signals import SCRUB, signal
from memoranda.tools.approvals import store as approvals
from memoranda.tools.receipts import store as receipts


def clear(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    """Take away what waits about these memories or was decided, and what their receipts say.

    For the transaction that removes them, once it holds them and before its first event: so
    nobody who decides waits for it, and it for nobody. A call whose receipt is cleared is
    answered from now on that what it was about is erased. What a proposal may become has
    the proposal's id, so that it is named here as well.
    """
    _scrub(tx, approvals.drop_about(tx, memory_ids) + receipts.clear(tx, memory_ids))


def clear_user(tx: Transaction, user_id: UUID) -> None:
    """Take away all that agents asked for that user, and the receipts of all calls for it. When, as for `clear`."""
    # What is being decided is waited for before its receipt is taken, as whoever decides takes them.
    _scrub(tx, approvals.drop_for(tx, user_id) + receipts.clear_user(tx, user_id))


def _scrub(tx: Transaction, gone: int) -> None:
    if gone:
        signal(tx, SCRUB)
