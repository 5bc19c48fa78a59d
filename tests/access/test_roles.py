"""Who may do what, written out: each role against each permission, and whom each may act for."""

from itertools import product
from uuid import UUID

import pytest

from memoranda.access.models import Principal, Role, Space
from memoranda.access.roles import (
    Permission,
    ToolPolicyRequired,
    organization_for,
    require,
    sees,
    sees_user,
    subject_of,
)
from memoranda.words.errors import ReadOnly, Refused

HOME, ANNA, BEN, SCOUT, CLERK = (UUID(int=number) for number in range(1, 6))

# o owner, m member, a agent, r read-only, p operator
MAY = {
    Permission.MANAGE_PLATFORM: "p",
    Permission.MANAGE_ACCESS: "o",
    Permission.READ_USERS: "or",
    Permission.READ_AGENTS: "omar",
    Permission.READ_KEYS: "or",
    Permission.BUILD_BRIEFS: "omar",
    Permission.READ_PAST: "omr",
    Permission.READ_POLICIES: "omar",
    Permission.PUBLISH_POLICIES: "o",
    Permission.READ_MEMORIES: "omar",
    Permission.WRITE_MEMORIES: "om",
    Permission.PROPOSE_MEMORIES: "oma",
    Permission.ERASE_MEMORIES: "o",
    Permission.READ_KNOWLEDGE: "omar",
    Permission.WRITE_KNOWLEDGE: "o",
    Permission.READ_CONVERSATIONS: "omar",
    Permission.WRITE_CONVERSATIONS: "oma",
    Permission.RESET_CONVERSATIONS: "o",
    Permission.READ_RUNS: "omar",
    Permission.WRITE_RUNS: "oma",
    Permission.READ_ACTIVITY: "or",
    Permission.USE_TOOLS: "omar",
    Permission.MANAGE_TOOLS: "o",
    Permission.READ_TOOLS: "or",
    Permission.DECIDE_TOOLS: "om",
    Permission.READ_TOOL_CALLS: "omar",
    Permission.READ_STATE: "omar",
    Permission.READ_ROWS: "omar",
    Permission.WRITE_STATE: "o",
    Permission.WRITE_SECTION: "om",
    Permission.READ_FILES: "omar",
    Permission.WRITE_FILES: "o",
    Permission.WRITE_NOTES: "oa",
    Permission.PROPOSE_FILES: "oma",
    Permission.READ_GRAPHS: "omar",
    Permission.WRITE_GRAPHS: "oma",
}
LETTER = {
    Role.OWNER: "o",
    Role.MEMBER: "m",
    Role.AGENT: "a",
    Role.READ_ONLY: "r",
    Role.OPERATOR: "p",
}
WHO = {
    Role.OWNER: Principal(organization_id=HOME, role=Role.OWNER, user_id=ANNA),
    Role.MEMBER: Principal(organization_id=HOME, role=Role.MEMBER, user_id=ANNA),
    Role.AGENT: Principal(organization_id=HOME, role=Role.AGENT, agent_id=SCOUT, user_id=ANNA),
    Role.READ_ONLY: Principal(organization_id=HOME, role=Role.READ_ONLY),
    Role.OPERATOR: Principal(organization_id=None, role=Role.OPERATOR),
}
LONE_AGENT = Principal(organization_id=HOME, role=Role.AGENT, agent_id=SCOUT)
SPACE = Space(id=UUID(int=9), name="flow/node", agent_id=SCOUT, tools=("remember",))
BOUND = {role: who.model_copy(update={"space": SPACE}) for role, who in WHO.items()}


def test_the_table_speaks_of_every_role_and_every_permission() -> None:
    assert set(MAY) == set(Permission)
    assert set(LETTER) == set(WHO) == set(Role)


@pytest.mark.parametrize(("role", "permission"), list(product(Role, Permission)))
def test_a_role_may_do_what_the_table_says_and_nothing_else(
    role: Role, permission: Permission
) -> None:
    if LETTER[role] in MAY[permission]:
        require(WHO[role], permission)
    else:
        with pytest.raises(Refused) as refusal:
            require(WHO[role], permission)
        assert permission.value in refusal.value.message or refusal.type is ToolPolicyRequired


@pytest.mark.parametrize("permission", Permission)
def test_the_operator_is_led_into_no_organization(permission: Permission) -> None:
    with pytest.raises(Refused):
        organization_for(WHO[Role.OPERATOR], permission)


@pytest.mark.parametrize("permission", [p for p in Permission if "r" not in MAY[p]])
def test_a_read_only_key_is_told_that_it_is_one(permission: Permission) -> None:
    with pytest.raises(ReadOnly):
        require(WHO[Role.READ_ONLY], permission)


def test_an_agent_that_wants_to_remember_is_told_that_a_tool_policy_is_missing() -> None:
    with pytest.raises(ToolPolicyRequired) as refusal:
        require(WHO[Role.AGENT], Permission.WRITE_MEMORIES)
    assert refusal.value.code == "tool_policy_required"


@pytest.mark.parametrize("role", [Role.OWNER, Role.READ_ONLY])
def test_an_owner_or_reader_names_any_subject_and_a_missing_one_names_nobody(role: Role) -> None:
    named = subject_of(WHO[role], agent_id=CLERK, user_id=BEN, trigger_id=SCOUT)
    assert (named.organization_id, named.agent_id, named.user_id) == (HOME, CLERK, BEN)
    assert named.trigger_id == SCOUT
    nobody = subject_of(WHO[role])
    assert (nobody.agent_id, nobody.user_id, nobody.trigger_id) == (None, None, None)


def test_a_member_is_always_its_own_user_with_any_agent() -> None:
    for asked in (None, ANNA):
        subject = subject_of(WHO[Role.MEMBER], agent_id=CLERK, user_id=asked)
        assert (subject.user_id, subject.agent_id) == (ANNA, CLERK)
    with pytest.raises(Refused):
        subject_of(WHO[Role.MEMBER], user_id=BEN)


def test_an_agent_is_always_its_own_agent_for_the_user_that_its_key_names() -> None:
    for agent, user in product((None, SCOUT), (None, ANNA)):
        subject = subject_of(WHO[Role.AGENT], agent_id=agent, user_id=user)
        assert (subject.agent_id, subject.user_id) == (SCOUT, ANNA)
    for agent, user in ((CLERK, None), (None, BEN), (CLERK, BEN)):
        with pytest.raises(Refused):
            subject_of(WHO[Role.AGENT], agent_id=agent, user_id=user)


def test_an_agent_whose_key_names_no_user_acts_for_no_user() -> None:
    assert subject_of(LONE_AGENT).user_id is None
    with pytest.raises(Refused):
        subject_of(LONE_AGENT, user_id=ANNA)


def test_the_operator_is_no_subject() -> None:
    with pytest.raises(Refused):
        subject_of(WHO[Role.OPERATOR])


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        (WHO[Role.OWNER], {(u, a) for u in (None, ANNA, BEN) for a in (None, SCOUT, CLERK)}),
        (WHO[Role.READ_ONLY], {(u, a) for u in (None, ANNA, BEN) for a in (None, SCOUT, CLERK)}),
        (WHO[Role.MEMBER], {(ANNA, None), (ANNA, SCOUT), (ANNA, CLERK)}),
        (WHO[Role.AGENT], {(ANNA, SCOUT)}),
        (LONE_AGENT, {(None, SCOUT)}),
        (WHO[Role.OPERATOR], set()),
    ],
)
def test_a_caller_sees_the_rows_of_those_it_may_act_for(who: Principal, seen: set[object]) -> None:
    rows = product((None, ANNA, BEN), (None, SCOUT, CLERK))
    assert {(u, a) for u, a in rows if sees(who, user_id=u, agent_id=a)} == seen


def test_a_bound_key_knows_of_its_own_user_alone() -> None:
    knowing = {role: {user for user in (ANNA, BEN) if sees_user(WHO[role], user)} for role in Role}
    assert knowing == {
        Role.OWNER: {ANNA, BEN},
        Role.READ_ONLY: {ANNA, BEN},
        Role.MEMBER: {ANNA},
        Role.AGENT: {ANNA},
        Role.OPERATOR: set(),
    }
    assert not sees_user(LONE_AGENT, ANNA)


@pytest.mark.parametrize(("role", "permission"), list(product(Role, Permission)))
def test_in_a_space_a_role_calls_tools_and_does_what_keeps_to_the_space(
    role: Role, permission: Permission
) -> None:
    for in_space in (False, True):
        left = in_space or permission is Permission.USE_TOOLS
        if LETTER[role] in MAY[permission] and left:
            require(BOUND[role], permission, in_space=in_space)
        else:
            with pytest.raises(Refused):
                require(BOUND[role], permission, in_space=in_space)


@pytest.mark.parametrize("role", Role)
def test_a_key_of_a_space_sees_no_runs_and_no_users_but_its_own(role: Role) -> None:
    rows = product((None, ANNA, BEN), (None, SCOUT, CLERK))
    assert not [row for row in rows if sees(BOUND[role], user_id=row[0], agent_id=row[1])]
    assert not sees_user(BOUND[role], BEN)
