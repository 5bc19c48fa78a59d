"""What only a conversation over HTTP can get wrong, and a server that is told to listen to all."""

from memoranda.words.errors import Refused
from memoranda.words.over_http import (
    BrokenBody,
    InternalError,
    MethodNotAllowed,
    SlowBody,
    UnknownRoute,
    UnsupportedMediaType,
)

__all__ = [
    "BrokenBody",
    "InternalError",
    "MethodNotAllowed",
    "SlowBody",
    "UnknownRoute",
    "UnsafeBind",
    "UnsupportedMediaType",
]


class UnsafeBind(Refused):
    """The server was told to listen for other machines, and nothing says that this is meant."""

    code = "unsafe_bind"
