"""A registry has one tool for each name, in one order, and takes none that no call could be made of."""

from typing import Any

import pytest

from memoranda.access.models import Principal, Role, Space
from memoranda.tools.errors import UnknownTool
from memoranda.tools.models import Answer, Input, Outcome, Tool, Written
from memoranda.tools.registry import WHOSE, ToolRegistry, schemas
from memoranda.words.ids import new_id


class Ask(Input):
    """A question."""

    question: str


def write(*_: object) -> Written:
    return Written(outcome=Outcome.DONE, message="Done.")


async def read(*_: object) -> Answer:
    return Answer()


def writer(name: str, **more: Any) -> Tool:
    given = {"name": name, "description": "It.", "input": Ask, "answer": Written, "write": write}
    return Tool(**given | more)


def reader(name: str, **more: Any) -> Tool:
    return writer(name, write=None, read=read, answer=Answer, **more)


OWNER = Principal(organization_id=new_id(), role=Role.OWNER)


def test_tools_come_in_the_order_in_which_they_were_given() -> None:
    names = ["remember", "ask", "look", "b2", "a_1"]
    registry = ToolRegistry([writer(name) for name in names])
    assert [tool.name for tool in registry] == names
    assert [tool.name for tool in registry.within_reach(OWNER)] == names


def test_a_space_knows_the_tools_it_was_published_with_less_those_that_no_space_can_call() -> None:
    registry = ToolRegistry([reader("look"), reader("pack", in_spaces=False), reader("more")])
    space = Space(id=new_id(), name="flow/node", agent_id=None, tools=("look", "pack"))
    bound = OWNER.model_copy(update={"role": Role.READ_ONLY, "space": space})
    assert [tool.name for tool in registry.within_reach(bound)] == ["look"]
    with pytest.raises(UnknownTool):
        registry.tool_for(bound, "pack")


def test_two_tools_have_two_names() -> None:
    with pytest.raises(ValueError, match="Two tools are called look"):
        ToolRegistry([reader("look"), writer("look")])


@pytest.mark.parametrize("name", ["", "Look", "look it", "-", "1st", "x" * 65, "ä", "look\n"])
def test_a_name_is_one_that_every_surface_can_carry(name: str) -> None:
    with pytest.raises(ValueError, match="can't be the name"):
        ToolRegistry([reader(name)])


@pytest.mark.parametrize(
    "tool",
    [
        writer("both", read=read),
        writer("neither", write=None),
        reader("asks", ask=write),
        writer("answers", answer=Answer),
    ],
    ids=["reads and writes", "does nothing", "asks about a read", "answers something else"],
)
def test_a_tool_that_no_call_could_be_made_of_is_not_taken(tool: Tool) -> None:
    with pytest.raises(ValueError, match=tool.name):
        ToolRegistry([tool])


@pytest.mark.parametrize("name", sorted(WHOSE))
def test_no_tool_asks_whose_memories_it_is_about(name: str) -> None:
    asks = type("Asks", (Input,), {"__annotations__": {name: str}})
    with pytest.raises(ValueError, match=name):
        ToolRegistry([reader("look", input=asks)])


def test_in_a_space_there_are_the_space_s_tools_alone() -> None:
    registry = ToolRegistry([reader("look"), writer("note"), reader("more")])
    space = Space(id=new_id(), name="flow/node", agent_id=None, tools=("more", "look", "gone"))
    who = OWNER.model_copy(update={"space": space})
    assert [tool.name for tool in registry.within_reach(who)] == ["look", "more"]
    assert registry.tool_for(who, "look").name == "look"
    with pytest.raises(UnknownTool) as refused:
        registry.tool_for(who, "note")
    assert refused.value.details["tools"] == ["look", "more"]
    assert registry.tool_for(OWNER, "note").name == "note"


def test_an_unknown_tool_is_refused_with_those_that_there_are() -> None:
    registry = ToolRegistry([reader("look")])
    with pytest.raises(UnknownTool, match="The tools are: look"):
        registry.tool("swordfish")
    with pytest.raises(UnknownTool, match="no tools here"):
        ToolRegistry([]).tool_for(OWNER, "look")


def test_what_a_tool_takes_is_described_once() -> None:
    tool = reader("look")
    takes, _ = schemas(tool)
    assert takes["required"] == ["question"]
    assert schemas(tool)[0] is takes
