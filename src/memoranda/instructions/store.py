"""The SQL of instructions: what an agent adds to its own, and what runs were told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memoranda.instructions.models import AgentInstructions, ContextLoad
from memoranda.storage import Row, Transaction, one_of, upsert
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import (
    agent_instructions,
    memories,
    run_instruction_facts,
    run_instructions,
    runs,
)

a, i, f = agent_instructions.c, run_instructions.c, run_instruction_facts.c

OF_AGENT: Final = select(a.agent_id, a.capabilities, a.skills_cap, a.updated_at).where(
    a.agent_id == bindparam("agent")
)
SET: Final = upsert(
    agent_instructions,
    ["organization_id", "agent_id"],
    set_=["capabilities", "skills_cap", "updated_at"],
)

_SHOWN: Final = select(i.run_id, i.stage, i.text, i.digest, i.load, i.assembled_at)
LATEST: Final = (
    _SHOWN.where(i.run_id == bindparam("run"), i.stage <= bindparam("upto"))
    .order_by(i.stage.desc())
    .limit(1)
)
LAST: Final = (
    _SHOWN.where(i.agent_id == bindparam("agent"))
    .order_by(i.assembled_at.desc(), i.run_id.desc(), i.stage.desc())
    .limit(1)
)
LAST_FOR_USER: Final = LAST.select_from(run_instructions.join(runs, runs.c.id == i.run_id)).where(
    runs.c.user_id == bindparam("user")
)
INSERT: Final = insert(run_instructions)
INSERT_FACT: Final = insert(run_instruction_facts)
DELETE_FACTS: Final = delete(run_instruction_facts).where(
    f.run_id == bindparam("run"), f.stage == bindparam("of_stage")
)
DELETE: Final = delete(run_instructions).where(
    i.run_id == bindparam("run"), i.stage == bindparam("of_stage")
)
# Held until the text is kept: whoever erases one of them comes before, or finds the text.
HOLD_MEMORIES: Final = (
    select(memories.c.id)
    .where(one_of(memories.c.id, "ids"))
    .order_by(memories.c.id)
    .with_for_update()
)
WITH_MEMORIES: Final = select(f.run_id, f.stage).where(one_of(f.memory_id, "ids"))
OF_USER: Final = (
    select(i.run_id, i.stage)
    .select_from(run_instructions.join(runs, runs.c.id == i.run_id))
    .where(runs.c.user_id == bindparam("user"), i.text.is_not(None))
)
CLEAR: Final = (
    update(run_instructions)
    .where(i.run_id == bindparam("run"), i.stage == bindparam("of_stage"))
    .values(text=None, digest=None)
)
later = run_instructions.alias("later")
_REPLACED: Final = (
    select(later.c.run_id).where(later.c.run_id == i.run_id, later.c.stage > i.stage).exists()
)
# The newest text of a run that goes on is what its next stage is told.
LONG_KEPT: Final = (
    select(i.run_id, i.stage)
    .select_from(run_instructions.join(runs, runs.c.id == i.run_id))
    .where(
        i.text.is_not(None),
        i.assembled_at < bindparam("before"),
        or_(runs.c.ended_at < bindparam("before"), _REPLACED),
    )
    .order_by(i.assembled_at)
    .limit(bindparam("most"))
)
DROP_TEXT: Final = (
    update(run_instructions)
    .where(i.run_id == bindparam("run"), i.stage == bindparam("of_stage"), i.text.is_not(None))
    .values(text=None)
)


class Kept(NamedTuple):
    """What a stage was told, as it is kept. Without a text it was erased or is old; without a digest, erased."""

    run_id: UUID
    stage: int
    text: str | None
    digest: str | None
    load: ContextLoad
    assembled_at: datetime


class Told(NamedTuple):
    """What a stage is told, before it is kept: the text, its digest, its account, and the memories in it."""

    text: str
    digest: str
    load: ContextLoad
    memory_ids: Sequence[UUID]


def of_agent(tx: Transaction, agent_id: UUID) -> AgentInstructions:
    """What is kept of an agent, which is nothing at first."""
    row = tx.one(OF_AGENT, agent=agent_id)
    if row is None:
        return AgentInstructions(
            agent_id=agent_id, capabilities="", skills_cap=None, updated_at=None
        )
    return AgentInstructions.model_validate(row._asdict())


def set_of_agent(
    tx: Transaction, agent_id: UUID, capabilities: str, skills_cap: int | None
) -> AgentInstructions:
    """Keep all of it anew."""
    tx.run(
        SET,
        agent_id=agent_id,
        capabilities=capabilities,
        skills_cap=skills_cap,
        updated_at=tx.now,
    )
    return of_agent(tx, agent_id)


def latest(tx: Transaction, run_id: UUID, upto: int) -> Kept | None:
    """What the run was told last at that stage or one before it."""
    row = tx.one(LATEST, run=run_id, upto=upto)
    return None if row is None else _kept(row)


def last_of_agent(tx: Transaction, agent_id: UUID, user_id: UUID | None) -> Kept | None:
    """What the agent's last run was told; of its runs for that user, where one is named."""
    if user_id is None:
        row = tx.one(LAST, agent=agent_id)
    else:
        row = tx.one(LAST_FOR_USER, agent=agent_id, user=user_id)
    return None if row is None else _kept(row)


def keep(
    tx: Transaction,
    run_id: UUID,
    stage: int,
    told: Told,
    *,
    agent_id: UUID | None,
    replace: bool,
) -> tuple[Kept, bool] | None:
    """Keep what the stage is told, and answer what is kept then, and whether it is this.

    Where another call was quicker, its text stands, unless this one is to `replace` it. None,
    and nothing is kept, where a memory in it has been erased since it was read.
    """
    tx.lock(f"instructions of {run_id}")
    ids = sorted(set(told.memory_ids))
    # Memories before texts: so does whoever erases take them.
    if ids and len(tx.all(HOLD_MEMORIES, ids=ids)) < len(ids):
        return None
    before = latest(tx, run_id, stage)
    if before is not None and not replace and before.text is not None:
        return before, False
    place = {"run_id": run_id, "stage": stage}
    if before is not None and before.stage == stage:
        tx.run(DELETE_FACTS, run=run_id, of_stage=stage)
        tx.run(DELETE, run=run_id, of_stage=stage)
    tx.run(
        INSERT,
        **place,
        agent_id=agent_id,
        text=told.text,
        digest=told.digest,
        load=told.load.model_dump(mode="json"),
        assembled_at=tx.now,
    )
    tx.send_many(INSERT_FACT, [{**place, "memory_id": each} for each in ids])
    return Kept(run_id, stage, told.text, told.digest, told.load, tx.now), True


def clear(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    """Take every text that quotes one of these memories, in the transaction that removes them."""
    _clear(tx, tx.all(WITH_MEMORIES, ids=list(memory_ids)))


def clear_user(tx: Transaction, user_id: UUID) -> None:
    """Take every text of a run that was for this user. When, as for `clear`."""
    _clear(tx, tx.all(OF_USER, user=user_id))


def prune(tx: Transaction, before: datetime, most: int) -> int:
    """Take some of the texts from before that time of runs that are over; how many. The accounts stay."""
    places = _places(tx.all(LONG_KEPT, before=before, most=most))
    tx.run_many(DROP_TEXT, places)
    tx.run_many(DELETE_FACTS, places)
    return len(places)


def _clear(tx: Transaction, rows: Sequence[Row]) -> None:
    places = _places(rows)
    tx.run_many(CLEAR, places)
    tx.run_many(DELETE_FACTS, places)
    if places:
        signal(tx, SCRUB)


def _places(rows: Sequence[Row]) -> list[dict[str, Any]]:
    named = sorted({(row.run_id, row.stage) for row in rows})
    return [{"run": run_id, "of_stage": stage} for run_id, stage in named]


def _kept(row: Row) -> Kept:
    values = row._asdict()
    return Kept(**values | {"load": ContextLoad.model_validate(values["load"])})
