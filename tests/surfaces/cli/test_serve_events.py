"""A served stream of events, in a process of its own: it is heard, and does not hold up the end."""

import time

import httpx

from memoranda.surfaces.cli.serve import GRACE_SECONDS
from tests.surfaces.cli.serving import serving
from tests.surfaces.cli.terminal import Cli


def test_a_change_of_another_process_is_heard_and_an_open_stream_holds_up_no_stop(cli: Cli) -> None:
    key = cli.json("keys", "create", "--role", "owner")["key"]
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(headers=headers, timeout=30) as listener:
        with serving(cli.db, key) as served:
            request = listener.build_request("GET", f"{served.url}/v1/events")
            stream = listener.send(request, stream=True)
            lines = stream.iter_lines()
            assert next(lines).startswith("retry: ")
            cli.json("remember", "Tea is at five.")
            assert "event: memory.updated" in lines
            stopped = time.monotonic()
        assert time.monotonic() - stopped < GRACE_SECONDS / 2
        assert list(lines)[-1:] == [""]
