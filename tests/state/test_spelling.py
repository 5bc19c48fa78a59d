"""How ids and fields of a host's rows are spelled."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest

from memoranda.state.spelling import bound, moment, said


@pytest.mark.parametrize(
    ("value", "kind", "spelled"),
    [
        (None, "text", None),
        (b"\x00", "bytes", None),
        ("", "text", ""),
        (True, "other", "yes"),
        (0, "boolean", "no"),
        (7, "integer", "7"),
        (1200.0, "number", "1200"),
        (Decimal("1200.50"), "number", "1200.5"),
        (Decimal("-0.00"), "number", "0"),
        (1e22, "number", "10000000000000000000000"),
        (1e-7, "number", "0.0000001"),
        (date(2026, 1, 2), "time", "2026-01-02"),
        ("2026-01-02", "time", "2026-01-02"),
        ("2026-01-02 03:04:05", "time", "2026-01-02T03:04:05Z"),
        ("soon, one day", "time", "soon, one day"),
        (
            datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))),
            "time",
            "2026-01-02T01:00:00Z",
        ),
        ({"b": 1, "a": [2]}, "other", '{"a": [2], "b": 1}'),
        (UUID(int=1), "uuid", str(UUID(int=1))),
    ],
)
def test_a_field_is_said_in_words(value: object, kind: str, spelled: str | None) -> None:
    assert said(value, kind) == spelled


@pytest.mark.parametrize(
    ("kind", "spelled", "value"),
    [
        ("integer", "7", 7),
        ("integer", "-7", -7),
        ("integer", "07", None),
        ("integer", "-0", None),
        ("integer", "9223372036854775808", None),
        ("integer", "٧", None),
        ("uuid", str(UUID(int=1)), UUID(int=1)),
        ("uuid", UUID(int=10).hex, None),
        ("uuid", str(UUID(int=10)).upper(), None),
        ("text", "07", "07"),
        ("text", "a\0", None),
    ],
)
def test_an_id_has_one_spelling(kind: str, spelled: str, value: object) -> None:
    assert bound(kind, spelled) == value


def test_a_time_is_read_in_utc_and_a_day_from_its_beginning() -> None:
    assert moment("2026-01-02 03:04:05") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert moment(date(2026, 1, 2)) == datetime(2026, 1, 2, tzinfo=UTC)
    assert moment("soon") is None
