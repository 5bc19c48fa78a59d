"""The fixtures hand out databases that are fresh, migrated and of the backend they are named for."""

from uuid import UUID

import pytest

from memoranda.storage import Storage, Transaction, migrate


def test_a_fresh_database_is_already_at_the_newest_schema(database_url: str) -> None:
    migrate(database_url)


def test_a_database_is_of_the_backend_that_the_test_is_named_for(
    database_url: str, request: pytest.FixtureRequest
) -> None:
    backend = "sqlite" if database_url.startswith("sqlite") else "postgres"
    assert f"[{backend}]" in request.node.name


async def test_an_open_storage_runs_a_transaction(storage: Storage) -> None:
    def scope(tx: Transaction) -> object:
        return tx.scope

    organization_id = UUID(int=1)
    assert await storage.read(organization_id, scope) == organization_id
