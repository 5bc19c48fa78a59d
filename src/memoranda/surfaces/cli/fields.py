"""Reads what a JSON file states into a model, and says in a sentence which field is wrong."""

from typing import TYPE_CHECKING, Any, TypeVar

from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen

if TYPE_CHECKING:
    from pydantic import BaseModel

Model = TypeVar("Model", bound="BaseModel")


def fields_of(stated: object, file: str, *, shown: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The fields that a file states, less those that are only `shown`. Raises `Invalid` for what is no object."""
    if not isinstance(stated, dict):
        raise Invalid(f"{file} has to hold one JSON object.", file=file)
    return {name: value for name, value in stated.items() if name not in shown}


def read_as(model: type[Model], fields: dict[str, Any], file: str) -> Model:
    """The fields as the model has them. Raises `Invalid` for the first that is wrong."""
    from pydantic import ValidationError

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the object"
        raise Invalid(f"{file}: {place}: {misshapen(first)}", field=place) from None


def version_in(fields: dict[str, Any], file: str) -> int | None:
    """The version that the file was read at, taken out of its fields; None where it states none."""
    version = fields.pop("version", None)
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        raise Invalid(f"{file}: version: This must be a whole number.", field="version")
    return version
