"""What only a conversation over HTTP can get wrong, for those on both of its ends."""

from memoranda.words.errors import Invalid, NotFound, OverLimit, Unavailable


class UnknownRoute(NotFound):
    """No route has this path."""

    code = "unknown_route"


class MethodNotAllowed(Invalid):
    """The route exists and does not answer this method."""

    code = "method_not_allowed"


class BrokenBody(Invalid):
    """The request's body can't be read as what it claims to be."""

    code = "broken_body"


class SlowBody(OverLimit):
    """The body stopped coming for longer than the server waits; it then closes the connection."""

    code = "slow_body"


class UnsupportedMediaType(Invalid):
    """The body is of a type that this route does not read."""

    code = "unsupported_media_type"


class InternalError(Unavailable):
    """Something broke that should not: a defect of Memoranda, written to its log."""

    code = "internal_error"
    retryable = False
