"""The values of rates: what is counted together, and the refusal of what is too much."""

from enum import StrEnum

from memoranda.words.errors import OverLimit


class Rate(StrEnum):
    """What is counted together."""

    MEMORY_WRITES = "memory_writes"
    FILE_WRITES = "file_writes"
    LISTS = "lists"


class TooManyRequests(OverLimit):
    """More of this was asked for than a minute allows. `details` carries the limit and when to ask again."""

    code = "too_many_requests"
    retryable = True
