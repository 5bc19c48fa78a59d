"""Fixtures of the client's tests: one application, two organizations, and both clients before it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from memoranda.access.models import Role
from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.app import create_app
from tests.client.faces import Face, face
from tests.contract.tenants import Tenant, new_tenant


@dataclass
class Desk:
    """The product behind the application, both organizations, and a client of an owner of each."""

    memoranda: Memoranda
    app: Any
    acme: Tenant
    zeta: Tenant
    mine: Face
    theirs: Face


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    """An opened Memoranda, once per backend."""
    settings = Settings(embedder="none")
    async with Memoranda.open(database_url, settings=settings, migrate=False) as opened:
        await (
            opened.events.close()
        )  # in process an answer is read whole, so none may go on for ever
        yield opened


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
async def desk(memoranda: Memoranda, request: pytest.FixtureRequest) -> Desk:
    """Both organizations, asked by the one client and by the other."""
    app = create_app(memoranda)
    acme, zeta = [await new_tenant(memoranda.storage, name) for name in ("Acme", "Zeta")]
    faces = [
        face(
            app,
            (await memoranda.access.create_key(each.owner, Role.OWNER)).key,
            awaits=request.param,
        )
        for each in (acme, zeta)
    ]
    return Desk(memoranda, app, acme, zeta, *faces)
