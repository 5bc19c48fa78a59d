"""Refuses a text that holds what looks like a credential, and never repeats it. Pure."""

from memoranda.words.errors import SecretFound
from memoranda.words.secrets.scan import find_secret


def check_no_secret(field: str, text: str) -> None:
    """Raise `SecretFound` with the field, the kind and the line where the text seems to hold a credential."""
    found = find_secret(text)
    if found is not None:
        raise SecretFound(
            f"{field} holds what looks like {found.called} in line {found.line}: take it out, and replace "
            "that credential if others may have seen it. Nothing was kept.",
            field=field,
            secret=found.kind,
            line=found.line,
        )
