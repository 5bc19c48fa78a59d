"""Whatever memories say, what is exported and taken in elsewhere says the same to the last character."""

import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.memories.limits import MemoryLimits
from memoranda.memories.service import Memories
from memoranda.memories.transfer.service import Transfer
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from memoranda.words.errors import MemorandaError
from tests.contract.exchanges import counts, exported, named_tenant, said

PIECES = [
    "Tea", "\u2028", "\u2029", "\u0085", "\n", "\r\n", "\t", "\x0b", "\x1c", "\x1f", "\x7f", "\u200b", "\ufeff",
    "é", "e\u0301", "ﬁ", "ß", "İ", "ı", "中文", "日本語。", "عربى", "\u202e", "👩\u200d👩\u200d👧", "🏳️\u200d🌈", "\U000e0041",
    '"', "\\", "\\u0041", "{", "}", "[", "]", "<|im_start|>", "</memoranda-memories>", "[memory:1]", " ", "\u00a0",
    "\u3000", "null", "NaN", "\ufffd", "\uffff", "\U0010ffff", "- ", "# ", "```", "[2025-01-02] - ", ",", ":", "0",
]  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=12).map(
    "".join
)
moments = st.integers(0, 10**17).map(
    lambda n: datetime(2900, 1, 1, tzinfo=UTC) + timedelta(microseconds=n)
)
remembered = st.fixed_dictionaries(
    {"text": hostile},
    optional={
        "title": hostile,
        "category": hostile,
        "tags": st.lists(hostile, max_size=3),
        "expires_at": moments,
        "attribute": hostile.map(lambda name: f"preference.{name}"),
        "pinned": st.booleans(),
        "user": st.sampled_from(["anna", "ben"]),
        "agent": st.sampled_from(["scout", "clerk"]),
        "forget": st.booleans(),
    },
)


@given(st.lists(remembered, min_size=1, max_size=6))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
async def test_what_goes_out_and_in_says_the_same(
    shared_storage: Storage, wanted: list[dict[str, Any]]
) -> None:
    memories, transfer = Memories(shared_storage), Transfer(shared_storage)
    here, there = [await named_tenant(shared_storage, name) for name in ("Here", "There")]
    people = {"anna": here.anna.id, "ben": here.ben.id, None: None}
    agents = {"scout": here.scout.id, "clerk": here.clerk.id, None: None}
    for each in wanted:
        given_ = dict(each)
        user, agent = given_.pop("user", None), given_.pop("agent", None)
        forget = given_.pop("forget", False)
        try:
            made = await memories.remember(
                here.owner, **given_, user_id=people[user], agent_id=agents[agent]
            )
        except MemorandaError:
            continue
        if forget:
            await memories.forget(here.owner, made.id)
    lines = await exported(transfer, here.owner)
    assert all(line.count("\n") == 1 and len(line.splitlines()) == 1 for line in lines)
    report = await transfer.take_in(there.owner, lines)
    assert counts(report) == (len(lines) - 1, 0, 0, 0), report
    assert said(await exported(transfer, there.owner)) == said(lines)
    whole = "".join(lines).encode()
    assert counts(await transfer.take_in(there.owner, whole)) == (0, 0, len(lines) - 1, 0)


@pytest.mark.slow
async def test_ten_times_as_many_memories_are_exported_in_the_same_room(
    sqlite_database: str,
) -> None:
    """No more of them is held than a page: what is held at the most does not grow with them."""
    storage = await Storage.open(sqlite_database)
    try:
        tenant = await named_tenant(storage, "Large")
        transfer = Transfer(storage, Ways(MemoryLimits(active=200_000)))
        content = "".join(f'{{"memory": "Fact {number} of many."}}\n' for number in range(20_000))
        assert (await transfer.take_in(tenant.owner, content)).taken == 20_000
        peaks = []
        tracemalloc.start()
        for most in (2_000, 20_000):
            tracemalloc.reset_peak()
            before, count = tracemalloc.get_traced_memory()[0], 0
            async for _ in transfer.export(tenant.owner):
                count += 1
                if count > most:
                    break
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
        assert peaks[1] < 2 * peaks[0] + 500_000, peaks
    finally:
        await storage.close()
