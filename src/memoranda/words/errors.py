"""Every error that Memoranda raises on purpose, in one tree.

    MemorandaError
    ├── NotFound                        not_found
    ├── Conflict                        conflict
    │   └── DuplicateMemory             duplicate_memory
    ├── Invalid                         invalid_input
    │   ├── PolicyRejected              policy_rejected
    │   └── SecretFound                 secret_found
    ├── Refused                         refused
    │   ├── Unauthenticated             unauthenticated
    │   └── ReadOnly                    read_only
    ├── OverLimit                       over_limit
    ├── Gone                            gone
    │   └── Erased                      erased
    └── Unavailable                     unavailable
        ├── StorageBusy                 storage_busy
        ├── StorageUnavailable          storage_unavailable
        │   └── HostMoved               application_changed
        └── RequiredContextSourceError  required_source_failed

The seven direct children are the kinds; each carries the code of its plain case.
A surface maps errors by kind, and a code is stable: once published, it keeps its meaning.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Self

ErrorKind = Literal[
    "not_found", "conflict", "invalid", "refused", "over_limit", "gone", "unavailable"
]

Path = tuple[str | int, ...]


class MemorandaError(Exception):
    """The root. The message is a sentence that says what to do; `details` is JSON-able."""

    kind: ClassVar[ErrorKind]
    code: ClassVar[str]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = details


class NotFound(MemorandaError):
    """Nothing with that id exists for this caller, or nothing this caller may know of."""

    kind = "not_found"
    code = "not_found"


class Conflict(MemorandaError):
    """The state moved on. `details` carries the current version where there is one."""

    kind = "conflict"
    code = "conflict"


class DuplicateMemory(Conflict):
    """The same text already lives under the same subject key. `details` names that memory."""

    code = "duplicate_memory"


class Invalid(MemorandaError):
    """The input breaks a stated rule; the same input will fail again."""

    kind = "invalid"
    code = "invalid_input"


class PolicyRejected(Invalid):
    """A context policy that may not be published, with every reason at its own path."""

    code = "policy_rejected"
    ADVICE: ClassVar[str] = "The context policy was not accepted; correct it and publish it again."

    @property
    def rejections(self) -> Sequence[tuple[Path, str]]:
        """Each reason at its own path, in order, as `details` lists them."""
        listed = self.details.get("rejections")
        each = listed if isinstance(listed, list) else []
        return tuple((tuple(reason["path"]), reason["message"]) for reason in each)

    @classmethod
    def because(cls, rejections: Iterable[tuple[Path, str]]) -> Self:
        """Make the error from `(path, message)` pairs, kept in their order.

        A path is for example `("sources", 0, "token_budget")`.
        """
        pairs = tuple(rejections)
        listed = "; ".join(f"{dotted(path)}: {message.rstrip('.')}" for path, message in pairs)
        return cls(
            f"{cls.ADVICE} {listed}.",
            rejections=[{"path": list(path), "message": message} for path, message in pairs],
        )


class SecretFound(Invalid):
    """A text holds what looks like a credential. `details` names the field, the kind and the line, never the value."""

    code = "secret_found"


class Refused(MemorandaError):
    """The caller is known and may not do this."""

    kind = "refused"
    code = "refused"


class Unauthenticated(Refused):
    """No credential, or one that is unknown, expired or revoked."""

    code = "unauthenticated"


class ReadOnly(Refused):
    """The credential may read and asked to write."""

    code = "read_only"


class OverLimit(MemorandaError):
    """The input or the result is larger than a stated limit. `details` carries the limit."""

    kind = "over_limit"
    code = "over_limit"


class Gone(MemorandaError):
    """It existed, and it can no longer be answered truthfully."""

    kind = "gone"
    code = "gone"


class Erased(Gone):
    """What this would tell or repeat has been erased since, because somebody wished it."""

    code = "erased"


class Unavailable(MemorandaError):
    """A part that this answer needs did not work; the input was not at fault."""

    kind = "unavailable"
    code = "unavailable"
    retryable = True


class StorageBusy(Unavailable):
    """The database could not serve the call in time. Nothing was written; try again."""

    code = "storage_busy"


class StorageUnavailable(Unavailable):
    """The database can't be reached or can't write (disk full, connection lost); nothing was written."""

    code = "storage_unavailable"


class HostMoved(StorageUnavailable):
    """The tables of an application's database are others than they were, or than is declared. They are looked at anew when asked again."""

    code = "application_changed"


class RequiredContextSourceError(Unavailable):
    """A source that the policy requires did not answer, so there is no brief."""

    code = "required_source_failed"

    @property
    def sources(self) -> Sequence[str]:
        """The sources that did not answer, in the policy's order."""
        listed = self.details.get("sources")
        return tuple(listed) if isinstance(listed, list) else ()

    @classmethod
    def because(cls, reasons: Mapping[str, str]) -> Self:
        """Make the error from source name to reason, names in policy order."""
        return cls(
            f"Required context sources did not answer: {', '.join(reasons)}. "
            "Try again, or mark them as optional in the policy.",
            sources=list(reasons),
            reasons=dict(reasons),
        )


def dotted(path: Path) -> str:
    """Write a path for people: `("sources", 0, "limit")` is `sources.0.limit`."""
    return ".".join(str(part) for part in path) or "policy"


def error_types(root: type[MemorandaError] = MemorandaError) -> Iterator[type[MemorandaError]]:
    """Yield every error type below `root`, parents before children."""
    for child in root.__subclasses__():
        yield child
        yield from error_types(child)
