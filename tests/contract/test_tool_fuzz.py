"""Whatever a model sends to any tool that there is, it is answered or refused, and a refusal leaves nothing behind."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.tools.models import Effect
from tests.contract.fuzzed_house import FORMS, OFFERS, FuzzedHouse
from tests.contract.hostile_arguments import (
    MISSING,
    NO_OBJECTS,
    STORABLE,
    STRANGE_NAMES,
    UNPRINTABLE,
    VALUES,
    broken,
    put,
)
from tests.contract.tenants import new_tenant

TOOLS = sorted(OFFERS)
WITH_CURSOR = [name for name in TOOLS if ("cursor",) in dict(FORMS[name].fields())]
# One house serves all examples: nothing may depend on what is in it.
FUZZED = settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def house(module_database_url: str) -> Iterator[FuzzedHouse]:
    opened = FuzzedHouse(module_database_url)
    yield opened
    opened.close()


def test_no_tool_is_left_out(house: FuzzedHouse) -> None:
    offers = house.run(house.product.tools.offers(house.acme.owner))
    assert [each.name for each in offers] == list(OFFERS)
    assert {each.effect for each in offers} == set(Effect)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_hostile_value_of_every_field_is_answered_or_refused(
    house: FuzzedHouse, tool: str
) -> None:
    form = FORMS[tool]
    right = form.least(house.pools)
    callers = list(house.callers.values())
    for number, (path, _) in enumerate(form.fields()):
        for place, value in enumerate((*VALUES, *UNPRINTABLE, MISSING)):
            caller = callers[(number + place) % len(callers)]
            house.call(caller, tool, put(right, path, value))
    house.hold_unwritten()


@pytest.mark.parametrize("tool", TOOLS)
def test_every_unknown_field_is_refused(house: FuzzedHouse, tool: str) -> None:
    form = FORMS[tool]
    right = form.least(house.pools)
    for place in form.objects():
        known = {path[-1] for path, _ in form.fields() if path[:-1] == place}
        for name in [each for each in STRANGE_NAMES if each not in known]:
            for value in (None, "a plain text", str(house.acme.ben.id)):
                unknown = put(right, (*place, name), value)
                result = house.call(house.acme.owner, tool, unknown)
                assert result.refusal is not None, name
                assert result.refusal.code == "invalid_input"
    house.hold_unwritten()


@pytest.mark.parametrize("number", ["4102444800", "4102444800.5", "2100", "-1", "1_0", " 7 "])
def test_a_number_written_as_a_text_is_no_time(house: FuzzedHouse, number: str) -> None:
    times = [(tool, path) for tool in TOOLS for path in FORMS[tool].times()]
    assert len(times) == len(set(times)) > 1
    for tool, path in times:
        asked = put(FORMS[tool].least(house.pools), path, number)
        result = house.call(house.acme.owner, tool, asked)
        assert result.refusal is not None
        assert result.refusal.details["errors"][0]["path"] == list(path)
    house.hold_unwritten()


@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_no_object_is_refused(house: FuzzedHouse, tool: str) -> None:
    for arguments in NO_OBJECTS:
        result = house.call(house.acme.owner, tool, arguments)
        assert result.refusal is not None, arguments
    house.hold_unwritten()


@pytest.mark.parametrize("tool", TOOLS)
def test_arguments_that_are_broken_in_several_ways_are_answered_or_refused(
    house: FuzzedHouse, tool: str
) -> None:
    @FUZZED
    @given(broken(FORMS[tool], house.pools), st.sampled_from(sorted(house.callers)))
    def holds(arguments: Any, caller: str) -> None:
        house.call(house.callers[caller], tool, arguments)
        house.hold_unwritten()

    holds()


@pytest.mark.parametrize("tool", TOOLS)
def test_arguments_of_the_tool_s_own_schema_are_never_said_to_be_misshapen(
    house: FuzzedHouse, tool: str
) -> None:
    @FUZZED
    @given(FORMS[tool].values(house.pools), st.sampled_from(sorted(house.callers)))
    def holds(arguments: Any, caller: str) -> None:
        result = house.call(house.callers[caller], tool, arguments)
        house.hold_unwritten()
        if result.refusal is not None:
            assert "errors" not in result.refusal.details, result.refusal

    holds()


def cursors(house: FuzzedHouse) -> dict[str, str]:
    """One cursor of each list that a tool gives, in an organization of its own."""
    other = house.run(new_tenant(house.product.storage, "Other"))
    for number in range(3):
        content = {"content": f"a plain text {number}"}
        house.run(house.product.tools.invoke(other.owner, "remember", content))
    made = {}
    for tool in WITH_CURSOR:
        asked = {**FORMS[tool].least(house.pools), "limit": 1}
        found = house.run(house.product.tools.invoke(other.owner, tool, asked))
        made[tool] = found.answer["next_cursor"]
    return made


@pytest.mark.parametrize("tool", WITH_CURSOR)
def test_a_cursor_with_any_character_changed_is_refused(house: FuzzedHouse, tool: str) -> None:
    right, cursor = FORMS[tool].least(house.pools), cursors(house)[tool]
    for place, character in enumerate(cursor):
        for other in {"A", "_", "é", "=", " ", "\u202e"} - {character}:
            changed = cursor[:place] + other + cursor[place + 1 :]
            result = house.call(house.acme.owner, tool, {**right, "cursor": changed})
            assert result.refusal is not None, (place, other)
    for changed in (
        cursor[:-1],
        cursor[1:],
        cursor * 2,
        f" {cursor}",
        f"{cursor}=",
        cursor.lower(),
    ):
        result = house.call(house.acme.owner, tool, {**right, "cursor": changed})
        assert result.refusal is not None, changed
    house.hold_unwritten()


@pytest.mark.parametrize("tool", WITH_CURSOR)
def test_a_cursor_of_another_list_is_refused_and_one_of_another_organization_shows_nothing_of_it(
    house: FuzzedHouse, tool: str
) -> None:
    right, made = FORMS[tool].least(house.pools), cursors(house)
    for of, cursor in made.items():
        result = house.call(house.acme.owner, tool, {**right, "cursor": cursor})
        assert (result.refusal is None) is (of == tool)
        assert not (result.answer and "a plain text 0" in str(result.answer))
    house.hold_unwritten()


@pytest.mark.parametrize("text", STORABLE, ids=range(len(STORABLE)))
def test_a_hostile_text_is_kept_to_the_letter_and_found_by_itself(
    house: FuzzedHouse, text: str
) -> None:
    owner = house.run(new_tenant(house.product.storage, "Other")).owner

    def answered(tool: str, **given: Any) -> Any:
        return house.run(house.product.tools.invoke(owner, tool, given)).answer

    kept = answered("remember", content=text, title=text, tags=[text])
    got = answered("get", memory_id=kept["memory_id"])
    assert (got["content"], got["title"], got["tags"]) == (
        text.strip(),
        text.strip(),
        [text.strip()],
    )
    for tool, asked in (("list", {"tags": [text]}), ("recall", {"query": text})):
        found = answered(tool, **asked)["memories"]
        assert [each["id"] for each in found] == [kept["memory_id"]]
