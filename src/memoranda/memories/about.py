"""The row of an application that a memory is about: as it is given, kept, and read back. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError

from memoranda.words.errors import Invalid
from memoranda.words.inputs import SHORT_TEXT, check_length
from memoranda.words.ref import ResourceRef
from memoranda.words.secrets.check import check_no_secret

LONGEST_KIND: Final = 64
"""Characters of a kind; the key that is made of it stands in indexes, whose rows have an end."""

UNREADABLE: Final = ResourceRef(kind=":", id=":", label="What was stored can't be read.")
"""In the place of what is stored and is no ref: no row can be called so, so nothing ever stands behind it."""

StoredRefs = tuple[dict[str, Any], ...]


def about_input(about: ResourceRef | None) -> StoredRefs:
    """The ref as it is kept. Raises `Invalid` for a part that holds a colon, `OverLimit` for a long one, `SecretFound`."""
    if about is None:
        return ()
    for part, limit in (("kind", LONGEST_KIND), ("id", SHORT_TEXT)):
        said = getattr(about, part)
        check_length(f"about.{part}", said, limit)
        if ":" in said:
            raise Invalid(
                f"about.{part} holds a colon, which parts a subject key: name another row.",
                field=f"about.{part}",
            )
        check_no_secret(f"about.{part}", said)
    if about.label is not None:
        check_length("about.label", about.label, SHORT_TEXT)
        check_no_secret("about.label", about.label)
    return (about.model_dump(exclude_none=True),)


def read_refs(stored: object) -> tuple[ResourceRef, ...]:
    """What is stored as refs. All that is no list of one well-formed ref reads as `UNREADABLE`."""
    if not stored and isinstance(stored, list | tuple):
        return ()
    if not isinstance(stored, list | tuple) or len(stored) != 1:
        return (UNREADABLE,)
    found = _read(stored[0])
    return (UNREADABLE if found is None else found,)


def _read(element: object) -> ResourceRef | None:
    if not isinstance(element, dict):
        return None
    known = {key: element[key] for key in ("kind", "id", "label") if key in element}
    try:
        ref = ResourceRef.model_validate(known)
    except ValidationError:
        return None
    return None if ":" in ref.kind or ":" in ref.id else ref


def ref_of(refs: Sequence[ResourceRef]) -> ResourceRef | None:
    """The row that a memory is about, if it is about one."""
    return refs[0] if refs else None
