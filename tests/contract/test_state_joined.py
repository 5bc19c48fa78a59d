"""The opened product with an application's database: briefs, tools and memories meet its rows."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.settings import Settings
from memoranda.state.file import read_state
from memoranda.state.sample.store import COMPANY, make_company
from memoranda.tools.models import Decision
from memoranda.words.errors import OverLimit, Refused
from memoranda.words.ref import ResourceRef

REF = ResourceRef(kind="crm.company", id=COMPANY)
ABOUT = {"kind": REF.kind, "id": REF.id}


@pytest.fixture
async def memoranda(database_url: str, tmp_path: Path) -> AsyncIterator[Memoranda]:
    state = read_state(make_company(tmp_path))
    settings = Settings.load(db=database_url, embedder="none")
    async with Memoranda.open(settings=settings, state=state, migrate=False) as opened:
        yield opened


async def text(memoranda: Memoranda, who: Principal, **asked: Any) -> str:
    return (await memoranda.briefs.build(who, "Harbor Couriers", entities=[REF], **asked)).text


async def test_a_row_and_what_an_agent_remembered_of_it_are_in_a_brief_while_it_is_there(
    memoranda: Memoranda, tmp_path: Path
) -> None:
    owner = memoranda.owner
    agent = await memoranda.access.create_agent(owner, "scout")
    who = Principal(organization_id=owner.organization_id, role=Role.AGENT, agent_id=agent.id)
    await memoranda.tools.policies.set(owner, agent.id, "remember", Decision.ALLOW)
    wish = {"content": "They pay late.", "attribute": "observation.paying", "about": ABOUT}
    assert (await memoranda.tools.invoke(who, "remember", wish)).answer["outcome"] == "done"
    brief = await text(memoranda, owner, agent_id=agent.id)
    assert f"[crm.company:{COMPANY}] country: Portugal" in brief
    assert "They pay late." in brief
    with sqlite3.connect(tmp_path / "crm.db") as host:
        host.execute("UPDATE crm_companies SET deleted_at = '2027-01-01' WHERE id = ?", (COMPANY,))
    host.close()
    brief = await text(memoranda, owner, agent_id=agent.id)
    assert "Portugal" not in brief
    assert "They pay late." not in brief


async def test_another_organization_meets_neither_the_row_nor_a_memory_about_it(
    memoranda: Memoranda,
) -> None:
    made = await memoranda.access.create_organization(
        LOCAL_OPERATOR, "Other", external_id="another-tenant"
    )
    other = Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)
    await memoranda.memories.remember(other, "They pay late.", about=REF)
    assert "Application state" not in await text(memoranda, other)
    assert "They pay late." not in await text(memoranda, other)
    assert await memoranda.state.resolve(other, [REF]) == []
    assert len((await memoranda.memories.page(other)).items) == 1


async def test_rows_are_for_callers_of_an_organization_and_asked_for_in_parts(
    memoranda: Memoranda,
) -> None:
    with pytest.raises(Refused):
        await memoranda.state.resolve(LOCAL_OPERATOR, [REF])
    with pytest.raises(OverLimit):
        await memoranda.state.resolve(memoranda.owner, [REF] * 101)
