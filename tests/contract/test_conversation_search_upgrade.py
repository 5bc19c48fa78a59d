"""What was said before there was a search is found after the upgrade, once a worker has begun."""

import pytest
from sqlalchemy.dialects.postgresql.base import ischema_names

from memoranda.access.models import Principal, Role
from memoranda.conversations.finding.service import ConversationSearch
from memoranda.storage import Storage, migrate
from tests.contract.test_conversation_migration import empty_url, old
from tests.contract.test_storage_migrations import HalfVector

__all__ = ["empty_url"]


async def test_what_was_said_before_the_upgrade_is_found(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ischema_names, "halfvec", HalfVector)
    made = old(empty_url)
    migrate(empty_url)
    storage = await Storage.open(empty_url)
    try:
        search = ConversationSearch(storage, None)
        for organization_id, conversation_id in made.items():
            who = Principal(organization_id=organization_id, role=Role.OWNER)
            assert (await search.search(who, "1099")).waiting == 1_000
            assert await search.take_up(organization_id) == 1
            assert await search.catch_up(organization_id, within_s=60)
            answer = await search.search(who, "1099", limit=1)
            assert [each.text for each in answer.results] == ["1099"]
            assert answer.results[0].conversation_id == conversation_id
            assert answer.waiting == 0
    finally:
        await storage.close()
