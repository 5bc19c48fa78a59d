"""Which addresses only this machine can reach."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`; a name but `localhost` is never sure to be."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
