"""A search reads the categories and tags that narrow it as a list does, and as they were stored."""

from functools import partial
from typing import Any

import pytest

from memoranda.memories.service import Memories
from memoranda.words.errors import Invalid
from tests.contract.tenants import Tenant


async def test_space_around_a_name_hides_nothing_from_a_search_that_a_list_shows(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "tea", tags=[" tone "], category=" kind ")
    for many, name in (("tags", " tone "), ("categories", " kind ")):
        listed = await memories.page(acme.owner, **{many: [name]})
        found = await memories.search(acme.owner, "tea", **{many: [name]})
        assert [each.id for each in listed.items] == [made.id]
        assert [each.memory.id for each in found.results] == [made.id], many


NO_NAMES: list[Any] = ["", " ", "\0", "\ud800", 5, None, []]


async def test_a_name_that_nothing_could_have_is_refused_by_a_search_too(
    memories: Memories, acme: Tenant
) -> None:
    for field in ("tags", "categories"):
        for name in NO_NAMES:
            for refusing in (partial(memories.search, query="tea"), memories.page):
                with pytest.raises(Invalid) as refused:
                    await refusing(acme.owner, **{field: [name]})
                assert field in str(refused.value.details["field"])
