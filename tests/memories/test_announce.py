"""Listeners are told after a change, and can't fail it."""

import logging
from uuid import UUID

import pytest

from memoranda.memories.announce import announce
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from memoranda.words.errors import DuplicateMemory
from memoranda.words.ids import new_id
from tests.contract.tenants import new_tenant


def test_a_listener_that_fails_is_logged_and_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    def fails(organization_id: UUID) -> None:
        raise OSError(organization_id)

    organization = new_id()
    with caplog.at_level(logging.ERROR):
        announce(fails, organization)
    assert str(organization) in caplog.text
    assert caplog.records[0].exc_info


async def test_every_change_and_no_refusal_is_told_after_the_commit(sqlite_database: str) -> None:
    storage = await Storage.open(sqlite_database)
    told: list[UUID] = []
    try:
        acme = await new_tenant(storage)
        memories = Memories(storage, changed=told.append)
        made = await memories.remember(acme.owner, "Likes tea")
        with pytest.raises(DuplicateMemory):
            await memories.remember(acme.owner, "Likes tea")
        await memories.update(acme.owner, made.id, pinned=True)
        await memories.forget(acme.owner, made.id)
        await memories.restore(acme.owner, made.id)
        assert told == [acme.owner.organization_id] * 4
    finally:
        await storage.close()


async def test_a_write_is_done_though_its_listener_fails(sqlite_database: str) -> None:
    def fails(organization_id: UUID) -> None:
        raise OSError(organization_id)

    storage = await Storage.open(sqlite_database)
    try:
        acme = await new_tenant(storage)
        memories = Memories(storage, changed=fails)
        made = await memories.remember(acme.owner, "Likes tea")
        assert await memories.get(acme.owner, made.id) == made
    finally:
        await storage.close()
