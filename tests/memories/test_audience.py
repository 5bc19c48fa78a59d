"""Who may know a memory."""

from itertools import product
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from memoranda.access.models import Principal, Role
from memoranda.memories.audience import Audience, may_change, may_know
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject

ORGANIZATION, ANNA, BEN, SCOUT, CLERK = (new_id() for _ in range(5))


def subject(user_id: UUID | None = None, agent_id: UUID | None = None) -> ContextSubject:
    return ContextSubject(organization_id=ORGANIZATION, user_id=user_id, agent_id=agent_id)


def test_an_unset_audience_covers_everybody() -> None:
    for user, agent in product((None, ANNA), (None, SCOUT)):
        assert Audience().covers(subject(user, agent))


def test_a_users_memory_covers_that_user_alone() -> None:
    for audience in (Audience(user_id=ANNA), Audience(user_id=ANNA, agent_id=SCOUT)):
        assert audience.covers(subject(ANNA, SCOUT))
        assert audience.covers(subject(ANNA))
        assert not audience.covers(subject(BEN, SCOUT))
        assert not audience.covers(subject(BEN))


def test_a_subject_without_a_user_knows_no_users_memory() -> None:
    assert not Audience(user_id=ANNA).covers(subject(None, SCOUT))
    assert not Audience(user_id=ANNA, agent_id=SCOUT).covers(subject(None, SCOUT))
    assert Audience(agent_id=SCOUT).covers(subject(None, SCOUT))


def test_without_an_agent_only_the_agent_filter_drops() -> None:
    assert Audience(agent_id=SCOUT).covers(subject())
    assert Audience(user_id=ANNA, agent_id=SCOUT).covers(subject(ANNA))
    assert not Audience(user_id=ANNA, agent_id=SCOUT).covers(subject(BEN))
    assert not Audience(agent_id=SCOUT).covers(subject(None, CLERK))


def test_a_space_covers_no_subject() -> None:
    assert not Audience(space="flow:node").covers(subject(ANNA, SCOUT))
    assert not Audience(space="flow:node").covers(subject())


IDS = st.one_of(st.none(), st.sampled_from([ANNA, BEN, SCOUT, CLERK]))
SPACES = st.one_of(
    st.none(), st.sampled_from(["", "a", "ab", "%", "_", "a:b", f"user={ANNA.hex}", "x;space=x"])
)
AUDIENCES = st.builds(Audience, user_id=IDS, agent_id=IDS, space=SPACES)


@given(AUDIENCES, AUDIENCES)
def test_two_audiences_are_spelled_alike_only_when_they_are_one(
    one: Audience, other: Audience
) -> None:
    assert (one.spelled == other.spelled) == (one == other)
    assert (one.spelled == "all") == (one == Audience())


def test_a_key_belongs_to_the_user_or_else_to_the_organization() -> None:
    assert Audience(user_id=ANNA, agent_id=SCOUT).owner(ORGANIZATION).id == str(ANNA)
    assert Audience(agent_id=SCOUT).owner(ORGANIZATION).kind == "organization"


def test_each_role_knows_and_changes_what_is_its_own() -> None:
    def who(role: Role, user_id: UUID | None = None, agent_id: UUID | None = None) -> Principal:
        return Principal(
            organization_id=ORGANIZATION, role=role, user_id=user_id, agent_id=agent_id
        )

    annas, bens, shared = Audience(user_id=ANNA), Audience(user_id=BEN), Audience(agent_id=SCOUT)
    member, owner = who(Role.MEMBER, ANNA), who(Role.OWNER, BEN)
    assert [may_know(member, each) for each in (annas, bens, shared)] == [True, False, True]
    assert [may_change(member, each) for each in (annas, shared)] == [True, False]
    assert all(may_know(owner, each) and may_change(owner, each) for each in (annas, bens, shared))
    clerk = who(Role.AGENT, ANNA, CLERK)
    assert [may_know(clerk, each) for each in (annas, bens, shared)] == [True, False, False]
    assert all(may_know(who(Role.READ_ONLY), each) for each in (annas, bens, shared))
