"""What an SDK or an HTTP client hands over, as plain JSON values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

from memoranda.words.errors import Invalid

P = ParamSpec("P")
T = TypeVar("T")


@runtime_checkable
class Dumps(Protocol):
    """An object of an SDK, all of which are pydantic models."""

    def model_dump(self, **options: Any) -> dict[str, Any]: ...


Given = Mapping[str, Any] | Dumps
"""An answer, an item or an event: an object of the SDK, or its JSON read into a dict."""


def reads(reader: Callable[P, T]) -> Callable[P, T]:
    """Let a reader of what a provider sent raise `Invalid` for what no API gives: fields of another kind."""

    @wraps(reader)
    def read(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return reader(*args, **kwargs)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise Invalid(
                "What the provider sent is not in the form of its API, so nothing of it was kept: "
                "check that it comes from the provider that was named, and is whole."
            ) from error

    return read


def plain(value: Given, *, nulls: bool = True) -> dict[str, Any]:
    """Return what an SDK would send of it: fields that nobody set are not there, nor nulls without `nulls`.

    What an SDK adds for the program's own use, and marks so, is not there either. Raises `Invalid` for anything that is neither an object nor a model of one.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain_part(part, nulls=nulls) for key, part in value.items()}
    if isinstance(value, Dumps):
        return value.model_dump(
            mode="json",
            by_alias=True,
            exclude_unset=True,
            exclude_none=not nulls,
            exclude=getattr(value, "__api_exclude__", None),
            warnings=False,
        )
    raise Invalid(
        "What a provider is sent and answers with is an object, or a model of its SDK, and not "
        f"{type(value).__name__}."
    )


def plain_list(values: Iterable[Given | None], *, nulls: bool = True) -> list[dict[str, Any]]:
    """Each of them as `plain` returns it; one that is null is none."""
    return [plain(value, nulls=nulls) for value in values if value is not None]


def plain_parts(value: Given, name: str) -> list[dict[str, Any]]:
    """The list under `name`, each part as `plain` returns it by itself; a null is an empty one."""
    parts = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return plain_list(parts or [])


def without(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The fields but for those named."""
    return {name: value for name, value in fields.items() if name not in names}


def _plain_part(value: Any, *, nulls: bool) -> Any:
    if isinstance(value, Mapping):
        return plain(value, nulls=nulls)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_plain_part(part, nulls=nulls) for part in value]
    return plain(value, nulls=nulls) if isinstance(value, Dumps) else value
