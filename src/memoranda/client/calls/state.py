"""The application's own rows."""

from collections.abc import Sequence

from memoranda.client.answers import Listing
from memoranda.client.call import Call, given
from memoranda.state.models import Resolved, StateKind
from memoranda.words.ref import ResourceRef


def list_state_kinds() -> Call[Listing[StateKind]]:
    """List the kinds of the application's rows that may be asked for, with their columns."""
    return Call("GET", "/v1/state/kinds", Listing[StateKind])


def resolve_state(refs: Sequence[ResourceRef]) -> Call[Listing[Resolved]]:
    """Read the organization's rows that refs name, in their order; what is not there is left out."""
    return Call(
        "POST", "/v1/state/resolve", Listing[Resolved], body=given(refs=refs), repeatable=True
    )
