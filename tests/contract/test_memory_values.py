"""A memory that is read is not checked again, and is nevertheless what a checked one would be."""

from datetime import UTC, datetime

from memoranda.memories.models import Memory, MemoryStatus
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from tests.contract.tenants import new_tenant


def check(memory: Memory) -> None:
    checked = Memory.model_validate(memory.model_dump())
    assert memory == checked
    assert {name: type(value) for name, value in memory} == {
        name: type(value) for name, value in checked
    }
    assert memory.model_dump_json() == checked.model_dump_json()
    assert memory.model_fields_set == checked.model_fields_set
    assert list(dict(memory)) == list(Memory.model_fields)


async def test_what_is_read_is_of_the_types_that_are_promised(storage: Storage) -> None:
    tenant, memories = await new_tenant(storage), Memories(storage)
    who = tenant.owner
    plain = await memories.remember(who, "tea")
    full = await memories.remember(
        who,
        "coffee",
        user_id=tenant.anna.id,
        agent_id=tenant.scout.id,
        title="Drinks",
        category="habits",
        tags=["warm", "black"],
        expires_at=datetime(2099, 1, 1, tzinfo=UTC),
        attribute="preference.drink",
        pinned=True,
        run_id=tenant.ben.id,
        conversation_id=tenant.ben.id,
    )
    for each in (plain, full):
        assert await memories.get(who, each.id) == each
        check(await memories.get(who, each.id))
    for each in (await memories.page(who)).items:
        check(each)
    check(await memories.forget(who, full.id))
    [forgotten] = (await memories.page(who, status=MemoryStatus.FORGOTTEN)).items
    assert forgotten.restorable_until is not None
    check(forgotten)
    check(forgotten.model_copy(update={"uses": 3}))
