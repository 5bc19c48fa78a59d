"""Telling whoever listens that an organization's memories have changed, once that is committed."""

import logging
from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

logger = logging.getLogger(__name__)

Changed: TypeAlias = Callable[[UUID], None]
"""Called with the organization after each commit. It only wakes somebody, and must not block."""


def nobody(organization_id: UUID) -> None:
    """Listen to nothing."""


def announce(changed: Changed, organization_id: UUID) -> None:
    """Call the listener. What it raises is logged: the write is done, and no listener can fail it."""
    try:
        changed(organization_id)
    except Exception:
        logger.exception("A listener failed after a change in organization %s.", organization_id)
