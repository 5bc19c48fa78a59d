"""Refs are equal by kind and id, and malformed ones are dropped and counted."""

import pytest
from pydantic import ValidationError

from memoranda.words.ref import ResourceRef, parse_refs


def test_the_label_takes_no_part_in_equality() -> None:
    one = ResourceRef(kind="crm.company", id="1", label="Acme")
    other = ResourceRef(kind="crm.company", id="1", label="Acme Inc.")
    assert one == other
    assert len({one, other}) == 1
    assert one != ResourceRef(kind="crm.company", id="2", label="Acme")
    assert one != ResourceRef(kind="crm.person", id="1", label="Acme")
    assert one != ("crm.company", "1")


@pytest.mark.parametrize("part", ["", " ", "\t", "\u00a0", "a\0b", 1, None])
def test_kind_and_id_hold_text_that_is_not_blank(part: object) -> None:
    for fields in ({"kind": part, "id": "1"}, {"kind": "a", "id": part}):
        with pytest.raises(ValidationError):
            ResourceRef.model_validate(fields)


def test_well_formed_refs_are_kept_in_order_and_the_others_counted() -> None:
    kept, dropped = parse_refs(
        [
            {"kind": "a", "id": "1", "label": "One"},
            {"kind": "a"},
            "a:1",
            None,
            {"kind": "a", "id": 7},
            {"kind": "b", "id": "2", "score": 0.5},
            {"kind": "c", "id": "3", "label": 3},
            ResourceRef(kind="d", id="4"),
            {"kind": "\ud800", "id": "5"},
        ]
    )
    assert kept == [
        ResourceRef(kind="a", id="1"),
        ResourceRef(kind="b", id="2"),
        ResourceRef(kind="d", id="4"),
    ]
    assert dropped == 6


@pytest.mark.parametrize("half", ["\ud800", "a\udfffb"])
def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(half: str) -> None:
    whole = {"kind": "a", "id": "1", "label": "One"}
    for name in whole:
        with pytest.raises(ValidationError):
            ResourceRef(**{**whole, name: half})
        assert parse_refs([{**whole, name: half}]) == ([], 1)


@pytest.mark.parametrize("raw", [None, "refs", {"kind": "a", "id": "1"}, 3])
def test_what_is_no_list_holds_no_refs(raw: object) -> None:
    assert parse_refs(raw) == ([], 0)
