"""A subject key says which fact an item states, so that two statements of it can meet."""

from memoranda.words.ref import ResourceRef


def make_subject_key(ref: ResourceRef | None, attribute: str | None) -> str | None:
    """Make `<entity kind>:<entity id>:<attribute>`, or None when either argument is None.

    Raises ValueError when a part is empty or holds `:`, because a key must read one way only.
    """
    if ref is None or attribute is None:
        return None
    parts = (ref.kind, ref.id, attribute)
    for name, part in zip(("kind", "id", "attribute"), parts, strict=True):
        if not part.strip():
            raise ValueError(f"The {name} of a subject key must not be empty.")
        if ":" in part:
            raise ValueError(f"The {name} of a subject key must not hold a colon.")
    return ":".join(parts)
