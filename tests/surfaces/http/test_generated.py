"""Requests made from the API's own description, right and wrong ones: each is answered as described."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS, load_all_checks

from memoranda.app import Memoranda
from memoranda.surfaces.http.app import create_app
from tests.surfaces.http.live import Live, live_server

EXAMPLES = 12
# A stream has no end to wait for; tests of its own are about it.
DESCRIBED = schemathesis.openapi.from_dict(create_app(cast(Memoranda, None)).openapi()).exclude(
    path="/v1/events"
)

load_all_checks()
# A value of the right shape may still break a rule of a service, which is told as 422.
LEFT_OUT: Any = [CHECKS.get_one("positive_data_acceptance")]


@pytest.fixture(scope="module")
def live(module_database_url: str) -> Iterator[Live]:
    """A server on a database of its own, once per backend."""
    with live_server(module_database_url) as server:
        yield server


@pytest.mark.slow
@DESCRIBED.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_generated_request_is_answered_as_described(
    case: "schemathesis.Case[Any]", live: Live
) -> None:
    case.call_and_validate(
        base_url=live.url,
        headers={"Authorization": f"Bearer {live.key}"},
        excluded_checks=LEFT_OUT,
    )
