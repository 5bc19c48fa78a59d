"""What is wrong with a value's shape, in a sentence that tells a person what belongs there."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from memoranda.words.fitting import EXAMPLE

_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "This is missing; it has to be there.",
    "extra_forbidden": "There is no such field; leave it out.",
    "bool_type": "This must be true or false.",
    "bool_parsing": "This must be true or false.",
    "int_type": "This must be a whole number.",
    "int_parsing": "This must be a whole number.",
    "int_from_float": "This must be a whole number.",
    "float_type": "This must be a number.",
    "float_parsing": "This must be a number.",
    "string_type": "This must be a text.",
    "list_type": "This must be a list.",
    "tuple_type": "This must be a list.",
    "dict_type": "This must be an object.",
    "model_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "uuid_parsing": f"This must be an id, such as {EXAMPLE}.",
    "uuid_type": f"This must be an id, such as {EXAMPLE}.",
    "int_parsing_size": "This is too large a number for anything here.",
    "finite_number": "This must be a number that has an end.",
    "none_required": "This must be null, or be left out.",
    "string_unicode": "This must be a text of whole characters.",
    "string_sub_type": "This must be a text.",
    "bytes_type": "This must be a file or a text.",
    "set_type": "This must be a list.",
    "mapping_type": "This must be an object.",
    "json_invalid": "This is no JSON: send one whole JSON document.",
    "json_type": "This must be a text that holds JSON.",
    "string_pattern_mismatch": "This is not spelled as it has to be; the reference shows how.",
    **dict.fromkeys(
        (
            *("datetime_type", "datetime_parsing", "datetime_from_date_parsing"),
            *("datetime_object_invalid", "timezone_aware"),
        ),
        "This must be a date and time with its zone, such as 2027-01-31T09:00:00Z.",
    ),
}
_BOUNDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "string_too_long": lambda bound: f"This may have at most {bound['max_length']} characters.",
    "too_long": lambda bound: f"This may hold at most {bound['max_length']}.",
    "too_short": lambda bound: f"This must hold at least {bound['min_length']}.",
    "string_too_short": lambda bound: f"This must have at least {bound['min_length']} characters.",
    "greater_than": lambda bound: f"This must be more than {bound['gt']}.",
    "greater_than_equal": lambda bound: f"This must be at least {bound['ge']}.",
    "less_than": lambda bound: f"This must be less than {bound['lt']}.",
    "less_than_equal": lambda bound: f"This must be at most {bound['le']}.",
    "literal_error": lambda bound: f"This must be one of {bound['expected']}.",
    # pydantic's own sentence quotes what was sent.
    "union_tag_invalid": lambda bound: (
        f"This names a kind that does not exist: the kinds are {bound['expected_tags']}."
    ),
    "union_tag_not_found": lambda bound: f"This must tell its kind in {bound['discriminator']}.",
    "enum": lambda bound: f"This must be one of {bound['expected']}.",
}


def misshapen(found: Mapping[str, Any]) -> str:
    """The sentence for one error of a pydantic validation; it repeats nothing that was sent."""
    kind = found["type"]
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    if kind in _BOUNDS:
        return _BOUNDS[kind](found["ctx"])
    said = str(found["msg"]).removeprefix("Value error, ")
    return said if said.endswith(".") else f"{said}."
