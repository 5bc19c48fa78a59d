"""A ref names one row by kind and id, whatever its label says."""

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError, field_validator


class ResourceRef(BaseModel):
    """One row: equal to, and hashed like, any ref of the same kind and id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: StrictStr = Field(min_length=1)
    id: StrictStr = Field(min_length=1)
    label: StrictStr | None = None

    @field_validator("kind", "id")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip() or "\0" in value:
            raise ValueError("must hold a character that is not blank, and no NUL")
        return value

    @field_validator("kind", "id", "label")
    @classmethod
    def _whole(cls, value: str | None) -> str | None:
        if value is not None and any("\ud800" <= each <= "\udfff" for each in value):
            raise ValueError("must not hold half of a surrogate pair, which is no character")
        return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ResourceRef):
            return NotImplemented
        return self.kind == other.kind and self.id == other.id

    def __hash__(self) -> int:
        return hash((self.kind, self.id))


def parse_refs(raw: object) -> tuple[list[ResourceRef], int]:
    """Keep the well-formed refs of `raw` in order; say how many entries were dropped.

    Anything that is not a list or tuple holds no refs. Keys beside kind, id and label are
    ignored, so that a host may send its own richer rows.
    """
    if not isinstance(raw, list | tuple):
        return [], 0
    parsed = [_parse_ref(entry) for entry in raw]
    kept = [ref for ref in parsed if ref is not None]
    return kept, len(parsed) - len(kept)


def _parse_ref(entry: object) -> ResourceRef | None:
    if isinstance(entry, ResourceRef):
        return entry
    if not isinstance(entry, dict):
        return None
    known = {key: entry[key] for key in ("kind", "id", "label") if key in entry}
    try:
        return ResourceRef.model_validate(known)
    except ValidationError:
        return None
