"""No test can leave the machine, and what stays on it is untouched."""

import socket
import sys

import pytest

from tests.network import OutsideRefused

# sys.audit is what the socket module itself calls first, so that nothing is ever sent from here.


@pytest.mark.parametrize("event", ["socket.connect", "socket.sendto"])
@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80, 0, 0), ("a.test", 1)])
def test_connecting_to_another_machine_is_refused(event: str, address: tuple[object, ...]) -> None:
    with socket.socket() as unused, pytest.raises(OutsideRefused):
        sys.audit(event, unused, address)


@pytest.mark.parametrize("host", ["a.test", b"a.test", "192.0.2.1"])
def test_looking_up_another_machine_is_refused(host: str | bytes) -> None:
    with pytest.raises(OutsideRefused):
        sys.audit("socket.getaddrinfo", host, 80, 0, 0, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", b"localhost", None])
def test_the_machine_itself_may_be_reached(host: str | bytes | None) -> None:
    sys.audit("socket.getaddrinfo", host, 80, 0, 0, 0)


def test_a_real_connection_on_loopback_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


async def test_async_tests_run_without_a_mark() -> None:
    import asyncio  # noqa: PLC0415 - asks for the loop that runs this very test

    assert asyncio.get_running_loop().is_running()
