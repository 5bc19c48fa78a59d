"""The guard by itself: it trusts no predicate but the table's own, standing where it holds."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    and_,
    case,
    delete,
    not_,
    or_,
    select,
    true,
    update,
)

from memoranda.storage import (
    GuardError,
    mine,
)
from memoranda.storage.guard import check_delete, check_join, check_select, check_update
from memoranda.storage.scope import Mine, Tenant
from memoranda.storage.tables import (
    knowledge_chunks,
    knowledge_sources,
    users,
)

UTC_TIME = datetime(2026, 1, 2, tzinfo=UTC)
u, s, c = users.c, knowledge_sources.c, knowledge_chunks.c
other = users.alias("other")


def moved(predicate: Mine) -> Mine:
    predicate.column = predicate.table.c.id
    return predicate


@pytest.mark.parametrize(
    "predicate",
    [
        lambda: Mine(users, Tenant("id", listed=True)),
        lambda: Mine(other, Tenant()),
        lambda: moved(mine(users)),
        lambda: not_(mine(users)),
        lambda: or_(mine(users), true()),
        lambda: case((mine(users), True), else_=True),
    ],
)
def test_a_predicate_that_is_not_the_tables_own_vouches_for_nothing(
    predicate: Callable[[], Any],
) -> None:
    with pytest.raises(GuardError, match="without its organization's predicate"):
        check_select(select(u.name).where(predicate()), platform=False)
    check_select(select(u.name).where(predicate(), mine(users)), platform=False)


def test_without_the_added_predicate_the_guard_refuses_every_kind_of_statement() -> None:
    join = users.outerjoin(other, and_(mine(users), other.c.id == u.id))
    for check in (
        lambda: check_select(select(u.name), platform=False),
        lambda: check_select(select(u.name).join(other, mine(other)), platform=False),
        lambda: check_select(select(u.name).select_from(join), platform=False),
        lambda: check_join(join, platform=False),
        lambda: check_update(update(users).values(name="x"), platform=False),
        lambda: check_delete(delete(users), platform=False),
    ):
        with pytest.raises(GuardError, match="without its organization's predicate"):
            check()
