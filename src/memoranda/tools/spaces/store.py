"""The SQL of spaces."""

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select

from memoranda.access.models import Space
from memoranda.access.store import revoke_keys_of_space, revoke_strangers
from memoranda.storage import Row, Transaction, upsert
from memoranda.storage.tables import tool_spaces
from memoranda.tools.models import ResetPolicy, ToolSpace
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id

s = tool_spaces.c
END: Final = UUID(int=2**128 - 1)
_FIELDS: Final = tuple(name for name in ToolSpace.model_fields if name != "name")
_SPACE: Final = select(*[s[name] for name in _FIELDS], s.space)

PUBLISH: Final = upsert(
    tool_spaces, ["organization_id", "space"], set_=["agent_id", "tools", "published_at"]
)
PUBLISH_WITH_POLICY: Final = upsert(
    tool_spaces,
    ["organization_id", "space"],
    set_=["agent_id", "tools", "published_at", "reset_policy"],
)
OF_WORKFLOW_TO_CLEAR: Final = (
    select(s.space)
    .where(s.workflow_id == bindparam("workflow"), s.reset_policy == "clear")
    .order_by(s.space)
)
BY_NAME: Final = _SPACE.where(s.space == bindparam("spelled"))
BY_ID: Final = _SPACE.where(s.id == bindparam("wanted"))
# Whoever withdraws a space waits for those who are about to refer to it, and the other way round.
HELD: Final = BY_ID.with_for_update()
KEPT: Final = BY_ID.with_for_update(read=True, key_share=True)
PAGE: Final = (
    _SPACE.where(s.id < bindparam("before")).order_by(s.id.desc()).limit(bindparam("most"))
)
WITHDRAW: Final = delete(tool_spaces).where(s.id == bindparam("wanted"))


def publish(
    tx: Transaction,
    workflow_id: str,
    node_id: str,
    name: str,
    *,
    agent_id: UUID | None,
    tools: list[str],
    reset_policy: ResetPolicy | None,
) -> ToolSpace:
    """Make the space, or change the one that there is, whose keys of other agents then open nothing.

    Without a policy, one that there is keeps its own.
    """
    tx.run(
        PUBLISH if reset_policy is None else PUBLISH_WITH_POLICY,
        id=new_id(),
        workflow_id=workflow_id,
        node_id=node_id,
        space=name,
        agent_id=agent_id,
        tools=tools,
        reset_policy=reset_policy or "keep",
        created_at=tx.now,
        published_at=tx.now,
    )
    row = tx.one(BY_NAME, spelled=name)
    if row is None:
        raise AssertionError("a space that was published is there")
    revoke_strangers(tx, row.id, agent_id)
    return _shown(row)


def withdraw(tx: Transaction, space_id: UUID) -> ToolSpace:
    """Take the space away, with what waits for a person in it; its keys open nothing any more. Raises `NotFound`."""
    row = _found(space_id, tx.one(HELD, wanted=space_id))
    # Before the space goes, and with it what bound them: they would else be free of it.
    revoke_keys_of_space(tx, space_id)
    tx.run(WITHDRAW, wanted=space_id)
    return _shown(row)


def get(tx: Transaction, space_id: UUID) -> ToolSpace:
    """The space. Raises `NotFound`."""
    return _shown(_found(space_id, tx.one(BY_ID, wanted=space_id)))


def page(tx: Transaction, before: UUID | None, most: int) -> list[ToolSpace]:
    """Spaces, the newest first."""
    return [_shown(row) for row in tx.all(PAGE, before=before or END, most=most)]


def named(tx: Transaction, name: str) -> Space | None:
    """The space of that name, as a caller is bound to it."""
    row = tx.one(BY_NAME, spelled=name)
    return None if row is None else _binding(row)


def binding(tx: Transaction, space_id: UUID) -> Space:
    """The space, likewise. Raises `NotFound`."""
    return _binding(_found(space_id, tx.one(BY_ID, wanted=space_id)))


def keep(tx: Transaction, space_id: UUID) -> None:
    """Let nobody withdraw the space until the commit. Raises `NotFound` where somebody has."""
    _found(space_id, tx.one(KEPT, wanted=space_id))


def to_clear(tx: Transaction, workflow_id: str) -> list[str]:
    """The names of the workflow's spaces whose memories a reset forgets."""
    return [row.space for row in tx.all(OF_WORKFLOW_TO_CLEAR, workflow=workflow_id)]


def _found(space_id: UUID, row: Row | None) -> Row:
    if row is None:
        raise unknown_space(space_id)
    return row


def _shown(row: Row) -> ToolSpace:
    values = row._asdict()
    values["name"] = values.pop("space")
    return ToolSpace.model_validate(values)


def _binding(row: Row) -> Space:
    return Space(id=row.id, name=row.space, agent_id=row.agent_id, tools=tuple(row.tools))


def unknown_space(named: UUID | str) -> NotFound:
    """The refusal of a space that is not there."""
    return NotFound(
        f"This organization has no space {str(named)!r}. "
        "An owner publishes one with: memoranda tools publish.",
        space=str(named),
    )
