"""What the API's description says of an operation, and what a function of the client does, in the same plain terms."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import BaseModel, TypeAdapter

from memoranda.app import Memoranda
from memoranda.briefs.models import ContextPolicy
from memoranda.client import calls
from memoranda.client.call import OMITTED, Call, Content, Id, Omitted
from memoranda.surfaces.http.app import create_app

Schema = dict[str, Any]
JSON = "application/json"
CONSTRAINTS = {
    *(
        "title",
        "description",
        "default",
        "examples",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
    ),
    *("minItems", "maxItems", "pattern", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems"),
}
"""What a schema says beside the shape."""
LOCAL = {"filename"}
"""A parameter that is none of the API's: what the part of a form with the file is called."""


def description() -> Schema:
    """The API's description, which needs no opened product."""
    return create_app(cast(Memoranda, None)).openapi()


DESCRIBED = description()
SCHEMAS: dict[str, Schema] = DESCRIBED["components"]["schemas"]


@dataclass(frozen=True)
class Parameter:
    """A parameter or a field of a body, wherever it stands."""

    name: str
    place: Literal["path", "query", "header", "body", "file"]
    required: bool
    schema: Schema
    default: object = None


@dataclass(frozen=True)
class Operation:
    """One operation, as the description has it."""

    id: str
    method: str
    path: str
    parameters: dict[str, Parameter]
    answers: Schema | None
    media_type: str | None


def operations() -> Iterator[Operation]:
    for path, methods in DESCRIBED["paths"].items():
        for method, said in methods.items():
            told = next(answer for status, answer in said["responses"].items() if status < "300")
            ((media_type, content),) = list(told.get("content", {}).items()) or [(None, {})]
            yield Operation(
                said["operationId"],
                method.upper(),
                path,
                {each.name: each for each in [*_parameters(said), *_fields(said)]},
                shape(content["schema"]) if content else None,
                media_type,
            )


def _parameters(said: Schema) -> Iterator[Parameter]:
    for each in said.get("parameters", ()):
        name = each["name"].replace("-", "_").lower()
        schema = each["schema"]
        yield Parameter(name, each["in"], each["required"], shape(schema), schema.get("default"))


def _fields(said: Schema) -> Iterator[Parameter]:
    body = said.get("requestBody", {})
    for media_type, content in body.get("content", {}).items():
        schema = resolved(content["schema"])
        if schema.get("format") == "binary":
            yield Parameter("file", "file", True, {})
        for name, field in schema.get("properties", {}).items():
            if media_type != JSON and name == "file":
                yield Parameter("file", "file", True, {})
            else:
                required = name in schema.get("required", ())
                yield Parameter(name, "body", required, shape(field), field.get("default"))


def resolved(schema: Schema, defs: Mapping[str, Schema] = SCHEMAS) -> Schema:
    return defs[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema


def shape(schema: Any, defs: Mapping[str, Schema] = SCHEMAS) -> Any:
    """A schema with what it refers to put in place, and nothing but the shape."""
    if isinstance(schema, list):
        return [shape(each, defs) for each in schema]
    if not isinstance(schema, dict):
        return schema
    schema = resolved(schema, defs)
    plain = {}
    for name, value in schema.items():
        if name == "properties":
            plain[name] = {field: shape(each, defs) for field, each in value.items()}
        elif name == "required":
            plain[name] = sorted(value)
        elif name == "const":
            plain |= {"enum": [value]}
        elif name not in CONSTRAINTS and name != "$defs" and not isinstance(value, bool):
            plain[name] = shape(value, defs)
    return plain


def shape_of(hint: Any, mode: Literal["validation", "serialization"]) -> Any:
    """The shape of what a type hint takes or gives."""
    made = TypeAdapter(hint).json_schema(mode=mode, ref_template="#/components/schemas/{model}")
    return shape(made, made.get("$defs", {}))


def asked(hint: Any, *, named: bool = False) -> Any:
    """The hint as the API sees it, where an id or a name is a text, and a policy is plain JSON.

    Where the API asks for what is `named`, a text of any kind, an id will do too.
    """
    if get_origin(hint) is Sequence:
        return Sequence[asked(get_args(hint)[0])]  # type: ignore[misc]  # made here
    if get_origin(hint) not in {Union, UnionType}:
        return hint
    left = [each for each in get_args(hint) if each not in {Omitted, ContextPolicy}]
    if any(map(is_value, left)):  # plain JSON will do in the place of a value
        left = [each for each in left if get_origin(each) is not Mapping]
    if set(get_args(Id)) <= set(left):
        left.remove(UUID if named else str)
    return Union[tuple(map(asked, left))]  # noqa: UP007 - made of a list


def is_value(hint: Any) -> bool:
    """Whether it is a value of ours, or one of several."""
    kinds = get_args(get_args(hint)[0]) if get_origin(hint) is Annotated else (hint,)
    return any(isinstance(each, type) and issubclass(each, BaseModel) for each in kinds)


def functions() -> dict[str, Callable[..., Call[Any]]]:
    """Every function that describes a call, by its name."""
    found: dict[str, Callable[..., Call[Any]]] = {}
    for info in iter_modules(calls.__path__):
        module = __import__(f"{calls.__name__}.{info.name}", fromlist=["x"])
        for name, made in inspect.getmembers(module, inspect.isfunction):
            if made.__module__ == module.__name__:
                assert name not in found
                found[name] = made
    return found


FUNCTIONS = functions()


def hints(function: Callable[..., Call[Any]]) -> dict[str, Any]:
    return get_type_hints(function, include_extras=True)


def sample(name: str, hint: Any) -> Any:
    """A value of the type, told by its name where that can be."""
    if hint == Content:
        return b"The file."
    kinds = [each for each in get_args(hint) if each not in {NoneType, Omitted}]
    origin = get_origin(hint)
    if origin in {Union, UnionType, Annotated}:
        return sample(name, kinds[0])
    if origin in {Sequence, list}:
        return [sample(name, kinds[0])]
    if origin in {Mapping, dict}:
        return {name: 1}
    return kinds[-1] if origin is Literal else _plain(name, hint)


def _plain(name: str, hint: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return list(hint)[-1]
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        fields = {
            field: sample(field, info.annotation)
            for field, info in hint.model_fields.items()
            if info.is_required()
        }
        return hint(**fields)
    values: dict[Any, Any] = {
        str: f"a {name}",
        int: 1 + len(name),
        bool: True,
        UUID: UUID(int=len(name)),
        datetime: datetime(2027, 1, 31, 9, tzinfo=UTC),
        Any: [name],
    }
    return values[hint]


def absent(value: object) -> bool:
    """Whether a default leaves the field out of what is sent."""
    return value is None or value is OMITTED or value == ()
