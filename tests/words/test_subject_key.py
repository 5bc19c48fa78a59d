"""A subject key reads one way only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.ref import ResourceRef
from memoranda.words.subject_key import make_subject_key

COMPANY = ResourceRef(kind="crm.company", id="8f21", label="any")


def test_a_key_is_kind_id_and_attribute() -> None:
    assert make_subject_key(COMPANY, "lifecycle_stage") == "crm.company:8f21:lifecycle_stage"


def test_missing_subject_data_makes_no_key() -> None:
    assert make_subject_key(None, "lifecycle_stage") is None
    assert make_subject_key(COMPANY, None) is None
    assert make_subject_key(None, None) is None


@pytest.mark.parametrize("attribute", ["", " ", "a:b", ":"])
def test_an_empty_or_colon_delimited_attribute_fails(attribute: str) -> None:
    with pytest.raises(ValueError, match="attribute of a subject key"):
        make_subject_key(COMPANY, attribute)


def test_a_colon_in_kind_or_id_fails() -> None:
    with pytest.raises(ValueError, match="kind of a subject key"):
        make_subject_key(ResourceRef(kind="a:b", id="1"), "x")
    with pytest.raises(ValueError, match="id of a subject key"):
        make_subject_key(ResourceRef(kind="a", id="1:2"), "x")


def test_an_empty_kind_or_id_fails() -> None:
    with pytest.raises(ValueError, match="kind of a subject key"):
        make_subject_key(ResourceRef.model_construct(kind="", id="1"), "x")
    with pytest.raises(ValueError, match="id of a subject key"):
        make_subject_key(ResourceRef.model_construct(kind="a", id=""), "x")


def test_an_application_field_and_a_memory_attribute_make_different_keys() -> None:
    field = make_subject_key(COMPANY, "lifecycle_stage")
    assert field != make_subject_key(COMPANY, "observation.lifecycle_stage")


PART = st.text(min_size=1, max_size=5, alphabet="ab.: ")


@given(st.tuples(PART, PART, PART), st.tuples(PART, PART, PART))
def test_different_parts_never_make_one_key(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    def key(parts: tuple[str, str, str]) -> str | None:
        kind, row_id, attribute = parts
        return make_subject_key(ResourceRef(kind=kind, id=row_id), attribute)

    try:
        keys = (key(one), key(other))
    except ValueError:
        return
    assert (keys[0] == keys[1]) == (one == other)
