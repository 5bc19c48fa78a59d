"""What nobody used for long is shown for review, and never taken away."""

from datetime import timedelta

from memoranda.memories.service import Memories
from memoranda.storage import Storage
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant


async def unused(memories: Memories, acme: Tenant) -> set[str | None]:
    page = await memories.page(acme.owner, unused_only=True)
    return {each.text for each in page.items}


async def test_a_memory_that_no_run_was_given_for_half_a_year_is_listed_for_review(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    acme, memories = await new_tenant(timed_storage), Memories(timed_storage)
    stale = await memories.remember(acme.owner, "The old mill closes on Mondays")
    used = await memories.remember(acme.owner, "Answer in three sentences", pinned=True)
    changed = await memories.remember(acme.owner, "Invoices are due in ten days")
    clock.tick(timedelta(days=181))
    assert await unused(memories, acme) == set()
    await memories.recall(acme.owner, "anything")
    await memories.settled()
    await memories.update(acme.owner, changed.id, text="Invoices are due in thirty days")
    clock.tick(timedelta(days=2))
    assert await unused(memories, acme) == {stale.text}
    listed = await memories.page(acme.owner)
    assert {each.id for each in listed.items} == {stale.id, used.id, changed.id}
