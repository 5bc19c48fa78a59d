"""What was said before conversations had digests goes on as if it had been said since."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from alembic import command
from sqlalchemy.dialects.postgresql.base import ischema_names

from memoranda.access.models import Principal, Role
from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.models import Message
from memoranda.conversations.preparing import list_of
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage, migrate
from memoranda.storage.schema import alembic_config, migration_engine
from memoranda.storage.tables import conversation_messages, conversations
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.old_rows import NOW, _Rows, hold_to_rows
from tests.contract.test_storage_migrations import HalfVector
from tests.postgres import Postgres

BEFORE = "0022"
SAID = [
    Message(role="user", content="grüße \U0001f680"),
    Message(role="assistant", content=[{"type": "text", "text": "b"}, {"z": 1, "a": [1.0]}]),
    *[Message(role="user", content=f"{number}") for number in range(1_100)],
]


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database in which nothing is yet, once per backend."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/old.db"
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.new_database()
    yield url
    server.drop_database(url)


def old(url: str) -> dict[UUID, UUID]:
    """Two organizations, each with a conversation of the schema before; the conversations by organization."""
    made: dict[UUID, UUID] = {}
    engine = migration_engine(url)
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), BEFORE)
        rows = _Rows(connection)
        for name in ("Acme", "Other"):
            organization_id, owner_id, conversation_id = new_id(), new_id(), new_id()
            rows.add(
                "organizations", id=organization_id, name=name, owner_id=owner_id, is_default=False
            )
            rows.add("users", id=owner_id, organization_id=organization_id, name="Owner")
            rows.add(
                "conversations",
                id=conversation_id,
                organization_id=organization_id,
                length=len(SAID),
                updated_at=NOW,
            )
            for position, each in enumerate(list_of(SAID, 10**7), 1):
                rows.add(
                    "conversation_messages",
                    id=new_id(),
                    organization_id=organization_id,
                    conversation_id=conversation_id,
                    position=position,
                    role=each.role,
                    content=each.content,
                )
            made[organization_id] = conversation_id
        hold_to_rows(connection, conversations, conversation_messages)
    engine.dispose()
    return made


async def test_what_was_said_before_is_there_and_goes_on(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ischema_names, "halfvec", HalfVector)
    made = old(empty_url)
    migrate(empty_url)
    storage = await Storage.open(empty_url)
    talks = Conversations(storage)
    try:
        for organization_id, conversation_id in made.items():
            who = Principal(organization_id=organization_id, role=Role.OWNER)
            loaded = await talks.load(who, conversation_id)
            assert loaded.messages == SAID
            assert loaded.digest == list(chains(map(digest_of, SAID)))[-1]
            assert loaded.conversation is not None
            assert loaded.conversation.bytes == sum(each.bytes for each in list_of(SAID, 10**7))
            # It is known to go on, so that no row is written again.
            longer = [*SAID, Message(role="user", content="more")]
            saved = await talks.save(who, conversation_id, longer, fence=0)
            assert saved.length == len(longer)
            first, *_ = await talks.messages(who, conversation_id, limit=1)
            assert abs(first.ts - NOW) < timedelta(seconds=1)
            subject = ContextSubject(organization_id=organization_id)
            then = await talks.recent(subject, conversation_id, 1, as_of=NOW + timedelta(minutes=1))
            assert [each.content for each in then] == [SAID[-1].content]
    finally:
        await storage.close()
