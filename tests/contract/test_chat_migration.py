"""What runs of chats came to before their states had rows of their own is there after the upgrade."""

from uuid import UUID

import pytest
from alembic import command
from sqlalchemy.dialects.postgresql.base import ischema_names

from memoranda.access.models import Principal, Role
from memoranda.conversations.chats.live.models import RunState
from memoranda.conversations.chats.models import ChatRunStatus
from memoranda.conversations.chats.service import Chats
from memoranda.storage import Storage, migrate
from memoranda.storage.schema import alembic_config, migration_engine
from memoranda.storage.tables import chat_runs, chats
from memoranda.words.ids import new_id
from tests.contract.old_rows import NOW, _Rows, hold_to_rows
from tests.contract.test_conversation_migration import empty_url
from tests.contract.test_storage_migrations import HalfVector

__all__ = ["empty_url"]
BEFORE = "0030"


def old(url: str) -> dict[UUID, tuple[UUID, UUID]]:
    """Two organizations, each with the user and the run of an ended chat of the schema before."""
    made: dict[UUID, tuple[UUID, UUID]] = {}
    engine = migration_engine(url)
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), BEFORE)
        rows = _Rows(connection)
        for name in ("Acme", "Other"):
            organization_id, user_id, chat_id, message_id, run_id = (new_id() for _ in range(5))
            own = {"organization_id": organization_id}
            rows.add(
                "organizations", id=organization_id, name=name, owner_id=user_id, is_default=False
            )
            rows.add("users", id=user_id, name="Owner", **own)
            rows.add(
                "chats", id=chat_id, user_id=user_id, workflow_id="talk", updated_at=NOW, **own
            )
            rows.add(
                "chat_messages",
                id=message_id,
                chat_id=chat_id,
                sequence=1,
                role="user",
                content='"Hello"',
                state="complete",
                **own,
            )
            rows.add(
                "runs",
                id=run_id,
                user_id=user_id,
                chat_id=chat_id,
                status="completed",
                updated_at=NOW,
                **own,
            )
            said = [{"type": "text", "text": f"what {name} heard"}]
            rows.add(
                "chat_runs",
                id=run_id,
                chat_id=chat_id,
                message_id=message_id,
                revision=1,
                status="completed",
                folded=RunState(sequence=3, blocks=said).model_dump_json(),
                folded_upto=3,
                last_event=3,
                seen_at=NOW,
                ended_at=NOW,
                **own,
            )
            made[organization_id] = user_id, run_id
        hold_to_rows(connection, chats, chat_runs)
    engine.dispose()
    return made


async def test_what_a_run_came_to_before_is_told_and_its_run_is_listed(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ischema_names, "halfvec", HalfVector)
    made = old(empty_url)
    migrate(empty_url)
    storage = await Storage.open(empty_url)
    told = Chats(storage)
    try:
        for heard, (organization_id, (user_id, run_id)) in zip(
            ("Acme", "Other"), made.items(), strict=True
        ):
            who = Principal(organization_id=organization_id, role=Role.OWNER)
            snapshot = await told.live.snapshot(who, run_id)
            [block] = snapshot.blocks
            assert (snapshot.sequence, block["text"]) == (3, f"what {heard} heard")
            member = Principal(organization_id=organization_id, role=Role.MEMBER, user_id=user_id)
            for caller in (who, member):
                page = await told.live.page(caller, status=ChatRunStatus.COMPLETED)
                assert [each.id for each in page.items] == [run_id]
    finally:
        await storage.close()
