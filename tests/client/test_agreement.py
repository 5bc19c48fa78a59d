"""The client and the API's description say the same: every operation, parameter, field, flag and answer."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import jsonschema_rs
import pytest

from memoranda.client import AsyncClient, Client
from memoranda.client.awaited import rooms as awaited
from memoranda.client.awaited import verbs as awaited_verbs
from memoranda.client.blocking import rooms as blocking
from memoranda.client.blocking import verbs as blocking_verbs
from memoranda.client.call import Call, File, Form
from memoranda.client.exchange import sent
from memoranda.words.page import Page
from tests.client.described import (
    DESCRIBED,
    FUNCTIONS,
    LOCAL,
    Operation,
    absent,
    asked,
    hints,
    operations,
    sample,
    shape_of,
)

OPERATIONS = {each.id: each for each in operations()}
REPEATABLE = {
    *("search_memories", "search_knowledge", "search_conversations", "resolve_state"),
    *("measure_context_load", "measure_file_load", "measure_agent_file_load"),
}
"""What is asked with POST and changes nothing."""
KEYED = {
    "call_tool": "idempotency_key",
    "record_usage": "call_id",
    "send_message": "client_message_id",
    "tell_chat_run": "after",
    "pick_up_chat_run": "picked_up_by",
}
"""What is done once for each key, or place."""
PLACED = {"prepare_agent": "agent_id", "answer_chat_run": "turns", "tell_chat_run": "events"}
"""What may be left out and has a place all the same, as it has in a script."""

each_operation = pytest.mark.parametrize("name", sorted(OPERATIONS))


def full(name: str) -> dict[str, Any]:
    """A value for every parameter of the function."""
    types = hints(FUNCTIONS[name])
    return {
        each: sample(each, types[each]) for each in inspect.signature(FUNCTIONS[name]).parameters
    }


def least(name: str) -> dict[str, Any]:
    """Values for those that have no default."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    return {
        each: value
        for each, value in full(name).items()
        if parameters[each].default is inspect.Parameter.empty
    }


def placed(call: Call[Any]) -> dict[str, dict[str, Any]]:
    """What a call sends, by where it stands."""
    body: Any = call.body or {}
    if isinstance(body, Form):
        return {
            **placed(Call(call.method, call.path, call.answer, call.at, call.query)),
            "body": dict(body.fields),
            "file": {"file": body.file.content},
        }
    found: dict[str, dict[str, Any]] = {
        "path": dict(call.at),
        "query": dict(call.query),
        "header": {key.replace("-", "_").lower(): value for key, value in call.headers.items()},
    }
    if isinstance(body, File):
        return {**found, "file": {"file": body.content}}
    return {**found, "body": dict(body)}


def expected(operation: Operation, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if name not in LOCAL:
            made.setdefault(operation.parameters[name].place, {})[name] = value
    return made


def same(one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]) -> bool:
    """Whether the same is sent, whether or not a place with nothing in it is named."""
    return {k: v for k, v in one.items() if v} == {k: v for k, v in other.items() if v}


def test_every_operation_has_a_function_of_its_name_and_there_is_no_other() -> None:
    assert set(FUNCTIONS) == set(OPERATIONS)


@each_operation
def test_a_call_goes_to_the_operations_own_route(name: str) -> None:
    call = FUNCTIONS[name](**full(name))
    assert (call.method, call.path) == (OPERATIONS[name].method, OPERATIONS[name].path)


@each_operation
def test_every_parameter_and_field_is_there_and_stands_where_it_belongs(name: str) -> None:
    operation, values = OPERATIONS[name], full(name)
    assert set(values) - LOCAL == set(operation.parameters)
    assert same(placed(FUNCTIONS[name](**values)), expected(operation, values))


@each_operation
def test_what_has_to_be_said_has_no_default_and_all_else_has_the_apis(name: str) -> None:
    for each, parameter in inspect.signature(FUNCTIONS[name]).parameters.items():
        if each in LOCAL:
            continue
        told = OPERATIONS[name].parameters[each]
        assert (parameter.default is inspect.Parameter.empty) == told.required, each
        if told.required:
            continue
        by_name = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert by_name == (each != PLACED.get(name)), each
        if absent(parameter.default):
            assert told.default in (None, [], {}) or isinstance(told.default, dict), each
        else:
            assert parameter.default == told.default, each


@each_operation
def test_what_is_left_out_is_not_sent_or_sent_as_the_apis_default(name: str) -> None:
    operation, values = OPERATIONS[name], least(name)
    there = placed(FUNCTIONS[name](**values))
    for place, fields in there.items():
        for each, value in fields.items():
            told = operation.parameters[each]
            assert told.place == place
            if each not in values:
                plain = list(value) if isinstance(value, tuple) else value
                assert plain == told.default, each


@each_operation
def test_each_parameter_is_of_the_apis_type(name: str) -> None:
    types = hints(FUNCTIONS[name])
    for each, told in OPERATIONS[name].parameters.items():
        if told.place == "file":
            continue
        wanted = without_null(told.schema, told.required)
        hint = asked(types[each], named=wanted == {"type": "string"})
        assert without_null(shape_of(hint, "validation"), told.required) == wanted, each


def without_null(shape: Any, required: bool) -> Any:
    """The shape of what is sent: of what may be left out, null says the same."""
    if required or "anyOf" not in shape:
        return shape
    kinds = [each for each in shape["anyOf"] if each != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


@each_operation
def test_what_is_answered_is_of_the_apis_type(name: str) -> None:
    operation = OPERATIONS[name]
    (answer,) = get_args(hints(FUNCTIONS[name])["return"])
    assert FUNCTIONS[name](**least(name)).answer == answer
    if operation.answers is None:
        assert answer is NoneType
    else:
        assert shape_of(answer, "serialization") == operation.answers


@each_operation
def test_a_body_is_one_that_the_description_takes(name: str) -> None:
    path, method = OPERATIONS[name].path, OPERATIONS[name].method.lower()
    content = DESCRIBED["paths"][path][method].get("requestBody", {}).get("content", {})
    request = sent(FUNCTIONS[name](**full(name)))
    assert (request.content is not None) == ("application/json" in content)
    if request.content is not None:
        schema = {**content["application/json"]["schema"], "components": DESCRIBED["components"]}
        jsonschema_rs.validate(schema, json.loads(request.content))


@each_operation
def test_only_what_changes_nothing_twice_may_be_repeated(name: str) -> None:
    call, whole = FUNCTIONS[name](**least(name)), FUNCTIONS[name](**full(name))
    assert call.reads == (call.method == "GET" or name in REPEATABLE)
    assert whole.reads == (call.reads or name in KEYED)


def verbs(rooms: Any, kinds: Any) -> dict[str, tuple[str, str]]:
    """The room's verb and its kind, for each function that it makes the call of."""
    found: dict[str, tuple[str, str]] = {}
    for room, kind in inspect.getmembers(rooms, inspect.isclass):
        for verb, made in vars(kind).items():
            if isinstance(made, kinds.Asked | kinds.Paged | kinds.Lined | kinds.Followed):
                assert made.make.__name__ not in found, f"{verb} has a second name"
                found[made.make.__name__] = (f"{room}.{verb}", type(made).__name__)
    return found


def test_both_clients_have_one_verb_for_each_operation_and_the_same_one() -> None:
    one, other = verbs(blocking, blocking_verbs), verbs(awaited, awaited_verbs)
    assert one == other
    assert set(one) == set(OPERATIONS)


def test_pages_are_paged_through_and_streams_are_read_as_they_come() -> None:
    kinds = {"application/jsonl": "Lined", "text/event-stream": "Followed"}
    for name, (_, kind) in verbs(blocking, blocking_verbs).items():
        (answer,) = get_args(hints(FUNCTIONS[name])["return"])
        pages = isinstance(answer, type) and issubclass(answer, Page)
        cursor = "cursor" in OPERATIONS[name].parameters
        assert pages == cursor
        told = kinds.get(OPERATIONS[name].media_type or "")
        assert kind == (told or ("Paged" if pages else "Asked")), name


@pytest.mark.parametrize(
    ("client", "rooms", "kinds"),
    [(Client, blocking, blocking_verbs), (AsyncClient, awaited, awaited_verbs)],
)
def test_a_client_has_every_room(client: Callable[..., Any], rooms: Any, kinds: Any) -> None:
    there = {type(each) for each in vars(client("http://never.test")).values()}
    declared = {
        each
        for _, each in inspect.getmembers(rooms, inspect.isclass)
        if issubclass(each, kinds.Room) and each is not kinds.Room
    }
    assert declared <= there


def test_the_rooms_of_both_clients_differ_in_nothing_but_how_they_are_called() -> None:
    one, other = (Path(str(each.__file__)).read_text("utf-8") for each in (blocking, awaited))
    assert one.replace(".blocking.", ".awaited.") == _sorted_alike(one, other)


def _sorted_alike(one: str, other: str) -> str:
    """The other text, with its imports in the order of the first."""
    line = "from memoranda.client.awaited.verbs import Asked, Followed, Lined, Paged, Room\n"
    head = one.index("from memoranda.client.blocking")
    bare = other.replace(line, "")
    return bare[:head] + line + bare[head:]


async def test_help_tells_of_each_verb_as_it_is() -> None:
    with Client("http://never.test") as blocked:
        for verb in (blocked.memories.remember, blocked.memories.list, blocked.memories.export):
            assert verb.__doc__
        told = inspect.signature(blocked.memories.remember)
        assert list(told.parameters)[:2] == ["text", "user_id"]
        assert told.return_annotation.__name__ == "Memory"
        assert inspect.signature(blocked.memories.list).return_annotation.__name__ == "MemoryPage"
        assert "Call" not in str(inspect.signature(blocked.events.follow))
    async with AsyncClient("http://never.test") as awaiting:
        assert inspect.signature(awaiting.memories.remember) == told
