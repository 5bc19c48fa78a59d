"""How the ids of a workflow and of its node are spelled as one text, the name of a space."""

from typing import Final

from memoranda.words.errors import Invalid
from memoranda.words.inputs import check_length, check_storable

LONGEST_ID: Final = 120
"""Characters of an id: a memory's space stands in indexes, whose rows have an end."""


def spelled(workflow_id: str, node_id: str) -> str:
    """One text for the pair that no other pair has, whatever characters they hold.

    A slash parts the two, and the slashes within them are spelled otherwise.
    """
    return f"{_escaped(workflow_id)}/{_escaped(node_id)}"


def id_input(field: str, given: str) -> str:
    """The id as given, to the last blank. Raises `Invalid` and `OverLimit`."""
    check_storable(field, given)
    if not given.strip():
        raise Invalid(f"{field} is empty: give it some text.", field=field)
    check_length(field, given, LONGEST_ID)
    return given


def _escaped(given: str) -> str:
    return given.replace("%", "%25").replace("/", "%2F")
