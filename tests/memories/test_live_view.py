"""The live view and the histories of real chains, against a model of a few lines."""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.memories.service import Memories
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, DuplicateMemory
from memoranda.words.text import fold
from tests.contract.tenants import Tenant, new_tenant

KEYS = [None, "preference.a", "observation.b"]
TEXTS = ["tea", "TEA", "coffee"]
REMEMBER = st.tuples(st.booleans(), st.sampled_from(KEYS), st.sampled_from(TEXTS))
FORGET = st.integers(0, 5)


@dataclass
class Model:
    """Chains in the order of their making: (for Anna?, key) and every text they had, None once forgotten."""

    chains: list[tuple[bool, str | None]] = field(default_factory=list)
    said: list[list[str | None]] = field(default_factory=list)

    def chain_for(self, anna: bool, key: str | None, text: str) -> tuple[int | None, bool]:
        """Which chain a statement goes to (None begins one), and whether it is refused."""
        for number, place in enumerate(self.chains):
            last = self.said[number][-1]
            if key is not None and place == (anna, key):
                return number, last == text
            if key is None and place[0] == anna and last is not None and fold(last) == fold(text):
                return number, True
        return None, False


async def follow(url: str, writes: list) -> None:
    storage = await Storage.open(url)
    try:
        acme, model, ids = await new_tenant(storage), Model(), []
        memories = Memories(storage)
        for write in writes:
            await step(memories, acme, model, ids, write)
            page = (await memories.page(acme.owner)).items
            live = {ids[n]: said[-1] for n, said in enumerate(model.said) if said[-1] is not None}
            assert {each.id: each.text for each in page} == live
        for number, memory_id in enumerate(ids):
            history = await memories.history(acme.owner, memory_id)
            assert [each.text for each in history] == model.said[number]
    finally:
        await storage.close()


async def step(memories: Memories, acme: Tenant, model: Model, ids: list[UUID], write) -> None:
    if isinstance(write, int):
        if write >= len(ids):
            return
        if model.said[write][-1] is None:
            with pytest.raises(Conflict):
                await memories.forget(acme.owner, ids[write])
            return
        await memories.forget(acme.owner, ids[write])
        model.said[write].append(None)
        return
    anna, key, text = write
    number, refused = model.chain_for(anna, key, text)
    user_id = acme.anna.id if anna else None
    if refused:
        with pytest.raises(DuplicateMemory):
            await memories.remember(acme.owner, text, user_id=user_id, attribute=key)
        return
    made = await memories.remember(acme.owner, text, user_id=user_id, attribute=key)
    if number is None:
        ids.append(made.id)
        model.chains.append((anna, key))
        model.said.append([text])
    else:
        assert made.id == ids[number]
        model.said[number].append(text)
    assert made.version == len(model.said[ids.index(made.id)])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(REMEMBER, FORGET), max_size=20))
def test_any_order_of_writes_leaves_what_a_simple_model_holds(
    migrated_sqlite: Path, writes: list
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memoranda.db"
        shutil.copyfile(migrated_sqlite, path)
        asyncio.run(follow(f"sqlite:///{path}", writes))
