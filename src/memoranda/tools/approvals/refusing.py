"""What is kept of a refusal, which may have told the caller a text that nobody keeps. Pure."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from memoranda.tools.models import Outcome, Refusal, Written
from memoranda.words.errors import MemorandaError


def refusal_of(refused: MemorandaError) -> Refusal:
    """The refusal with its code and words; of its details ids, numbers and truths alone."""
    return Refusal(
        code=refused.code,
        kind=refused.kind,
        message=refused.message,
        retryable=refused.retryable,
        details=_kept(refused.details),
    )


def failed(refused: Refusal, approval_id: UUID, memory_id: UUID | None) -> Written:
    """What the agent is told of a call that a person allowed, and that was refused all the same."""
    version = refused.details.get("version")
    return Written(
        outcome=Outcome.FAILED,
        message=f"A person allowed this, and it could not be done any more. {refused.message}",
        memory_id=memory_id,
        version=cast("int", version) if _is_number(version) else None,
        approval_id=approval_id,
    )


def _kept(details: Mapping[str, object]) -> dict[str, Any]:
    return {
        name: value
        for name, value in details.items()
        if value is None or isinstance(value, bool) or _is_number(value) or _is_id(value)
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and str(UUID(value)) == value
    except ValueError:
        return False
