"""Refuses every connection that would leave the machine, while tests run."""

import ipaddress

CONNECTING = {"socket.connect", "socket.sendto", "socket.sendmsg"}
RESOLVING = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


class OutsideRefused(AssertionError):
    """A test tried to reach another machine."""


def refuse_outside(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook (see sys.addaudithook): Python calls it before it connects or resolves."""
    if event in CONNECTING:
        address = arguments[1]
        if isinstance(address, tuple) and not is_loopback(address[0]):
            raise OutsideRefused(f"No test may leave the machine, and this one tried {address}.")
    elif event in RESOLVING and not is_loopback(arguments[0]):
        raise OutsideRefused(
            f"No test may look up other machines, and this one tried {arguments[0]!r}."
        )


def is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(host).split("%", 1)[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
