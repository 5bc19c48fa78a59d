"""Which keys may be made by whom."""

from datetime import datetime
from uuid import UUID

import pytest

from memoranda.access.grants import Grant, checked
from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.words.errors import Invalid, OverLimit, ReadOnly, Refused

HOME, ANNA, BEN, SCOUT, SPACE = (UUID(int=number) for number in range(1, 6))
OWNER = Principal(organization_id=HOME, role=Role.OWNER, user_id=ANNA)

FINE = [
    Grant(role=Role.OWNER, user_id=BEN),
    Grant(role=Role.MEMBER, user_id=BEN),
    Grant(role=Role.AGENT, agent_id=SCOUT),
    Grant(role=Role.AGENT, agent_id=SCOUT, user_id=BEN),
    Grant(role=Role.READ_ONLY, name="dashboards"),
    Grant(role=Role.AGENT, agent_id=SCOUT, space_id=SPACE),
    Grant(role=Role.AGENT, agent_id=SCOUT, user_id=BEN, space_id=SPACE),
    Grant(role=Role.READ_ONLY, space_id=SPACE),
]


@pytest.mark.parametrize("grant", FINE, ids=lambda grant: grant.role)
def test_an_owner_grants_every_role_of_its_organization(grant: Grant) -> None:
    assert checked(OWNER, grant) == grant


def test_an_owners_key_without_a_user_writes_as_the_owner_who_made_it() -> None:
    assert checked(OWNER, Grant(role=Role.OWNER)).user_id == ANNA


def test_only_an_operator_grants_to_operators() -> None:
    assert checked(LOCAL_OPERATOR, Grant(role=Role.OPERATOR)).role is Role.OPERATOR
    with pytest.raises(Refused):
        checked(OWNER, Grant(role=Role.OPERATOR))


@pytest.mark.parametrize("grant", FINE, ids=lambda grant: grant.role)
def test_nobody_else_grants_anything(grant: Grant) -> None:
    for role in (Role.MEMBER, Role.AGENT):
        with pytest.raises(Refused):
            checked(Principal(organization_id=HOME, role=role, user_id=ANNA), grant)
    with pytest.raises(ReadOnly):
        checked(Principal(organization_id=HOME, role=Role.READ_ONLY), grant)
    with pytest.raises(Refused):
        checked(LOCAL_OPERATOR, grant)


@pytest.mark.parametrize(
    ("grant", "field"),
    [
        (Grant(role=Role.MEMBER), "user_id"),
        (Grant(role=Role.MEMBER, user_id=BEN, agent_id=SCOUT), "agent_id"),
        (Grant(role=Role.AGENT), "agent_id"),
        (Grant(role=Role.AGENT, user_id=BEN), "agent_id"),
        (Grant(role=Role.OWNER, agent_id=SCOUT), "agent_id"),
        (Grant(role=Role.READ_ONLY, user_id=BEN), "user_id"),
        (Grant(role=Role.READ_ONLY, agent_id=SCOUT), "agent_id"),
        (Grant(role=Role.OWNER, space_id=SPACE), "space_id"),
        (Grant(role=Role.MEMBER, user_id=BEN, space_id=SPACE), "space_id"),
        (Grant(role=Role.READ_ONLY, name="nul\0"), "name"),
        (Grant(role=Role.READ_ONLY, expires_at=datetime(2999, 1, 1)), "expires_at"),  # noqa: DTZ001 - without a zone is what it is about
    ],
)
def test_a_grant_that_makes_no_sense_is_refused_by_its_field(grant: Grant, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        checked(OWNER, grant)
    assert refusal.value.details["field"] == field


def test_an_operator_names_neither_user_nor_agent() -> None:
    for grant in (
        Grant(role=Role.OPERATOR, user_id=BEN),
        Grant(role=Role.OPERATOR, agent_id=SCOUT),
        Grant(role=Role.OPERATOR, space_id=SPACE),
    ):
        with pytest.raises(Invalid):
            checked(LOCAL_OPERATOR, grant)


def test_the_name_of_a_key_is_bounded() -> None:
    with pytest.raises(OverLimit):
        checked(OWNER, Grant(role=Role.READ_ONLY, name="x" * 201))
