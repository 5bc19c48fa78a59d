"""What each role may do, and for whom: pure, and the one place where it is said."""

from enum import StrEnum
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.words.errors import ReadOnly, Refused
from memoranda.words.subject import ContextSubject


class Permission(StrEnum):
    """One thing that a caller may be allowed to do; the value completes "may not …"."""

    MANAGE_PLATFORM = "make organizations and write the platform's rows"
    MANAGE_ACCESS = "make users, agents and keys"
    READ_USERS = "list the organization's users"
    READ_AGENTS = "list the organization's agents"
    READ_KEYS = "list the organization's keys"
    BUILD_BRIEFS = "build briefs"
    READ_PAST = (
        "read memories and build briefs of past times, which tell what has been forgotten since"
    )
    READ_POLICIES = "read context policies"
    PUBLISH_POLICIES = "publish context policies"
    READ_MEMORIES = "read memories"
    WRITE_MEMORIES = "remember or forget"
    PROPOSE_MEMORIES = "propose memories"
    ERASE_MEMORIES = "erase memories or forget all of them"
    READ_KNOWLEDGE = "search knowledge"
    WRITE_KNOWLEDGE = "add or remove knowledge"
    READ_CONVERSATIONS = "read conversations"
    WRITE_CONVERSATIONS = "write conversations"
    RESET_CONVERSATIONS = "reset workflows or delete conversations for good"
    READ_RUNS = "read runs"
    WRITE_RUNS = "start or log runs"
    READ_ACTIVITY = "read the organization's activity"
    USE_TOOLS = "call tools"
    MANAGE_TOOLS = "say what agents' tools may do"
    READ_TOOLS = "read what agents' tools may do"
    DECIDE_TOOLS = "decide what agents ask for"
    READ_TOOL_CALLS = "read what tools were called"
    READ_STATE = "read the organization's dossier and definitions"
    WRITE_STATE = "write the organization's dossier and definitions"
    READ_ROWS = "read the application's rows"
    WRITE_SECTION = "write a user's section of the dossier"
    READ_FILES = "read context files"
    WRITE_FILES = "write context files"
    WRITE_NOTES = "write an agent's notes"
    PROPOSE_FILES = "propose changes of context files"
    READ_GRAPHS = "read what graphs keep"
    WRITE_GRAPHS = "write what graphs keep"


class ToolPolicyRequired(Refused):
    """An agent's key asked to write memories past the tools, whose policy decides what an agent may write."""

    code = "tool_policy_required"


_P = Permission
_READS: Final = frozenset(p for p in Permission if p.name.startswith(("READ_", "BUILD_")))
_OF_ALL: Final = {_P.READ_USERS, _P.READ_KEYS, _P.READ_ACTIVITY, _P.READ_TOOLS, _P.READ_PAST}
_BOUND: Final = (_READS - _OF_ALL) | {_P.USE_TOOLS}

MATRIX: Final[dict[Role, frozenset[Permission]]] = {
    Role.OWNER: frozenset(Permission) - {_P.MANAGE_PLATFORM},
    Role.MEMBER: _BOUND
    | {
        _P.WRITE_MEMORIES,
        _P.PROPOSE_MEMORIES,
        _P.WRITE_CONVERSATIONS,
        _P.WRITE_RUNS,
        _P.WRITE_GRAPHS,
    }
    | {_P.DECIDE_TOOLS, _P.WRITE_SECTION, _P.PROPOSE_FILES, _P.READ_PAST},
    Role.AGENT: _BOUND
    | {_P.PROPOSE_MEMORIES, _P.WRITE_CONVERSATIONS, _P.WRITE_RUNS, _P.WRITE_GRAPHS}
    | {_P.WRITE_NOTES, _P.PROPOSE_FILES},
    Role.READ_ONLY: _READS | {_P.USE_TOOLS},
    Role.OPERATOR: frozenset({_P.MANAGE_PLATFORM}),
}


def require(who: Principal, permission: Permission, *, in_space: bool = False) -> None:
    """Return when `who` may; raise `Refused` (`ReadOnly`, `ToolPolicyRequired`) when not.

    A key that is bound to a space calls tools, and does besides only what says that it keeps
    to the caller's space (`in_space`).
    """
    if who.space is not None and not in_space and permission is not Permission.USE_TOOLS:
        raise Refused(
            f"A key that is bound to a space may not {permission.value}: it calls the space's tools. "
            "Use another key."
        )
    if permission in MATRIX[who.role]:
        return
    if who.role is Role.READ_ONLY:
        raise ReadOnly(f"A read-only key may not {permission.value}. Use an owner's key.")
    if who.role is Role.AGENT and permission is Permission.WRITE_MEMORIES:
        raise ToolPolicyRequired(
            "An agent remembers, updates and forgets by calling the tools of these names, whose policy decides. "
            "Call the tool, or use a member's or an owner's key."
        )
    needed = "the operator's" if permission is Permission.MANAGE_PLATFORM else "an owner's"
    raise Refused(f"This key ({who.role.value}) may not {permission.value}. Use {needed} key.")


def organization_for(who: Principal, permission: Permission, *, in_space: bool = False) -> UUID:
    """`require`, and the organization whose rows the call may then touch."""
    require(who, permission, in_space=in_space)
    return organization_of(who)


def organization_of(who: Principal) -> UUID:
    """The caller's organization. Raises `Refused` for the operator, who stands outside of all."""
    if who.organization_id is None:
        raise Refused("The operator reads no organization's rows. Use a key of the organization.")
    return who.organization_id


def subject_of(
    who: Principal,
    agent_id: UUID | None = None,
    user_id: UUID | None = None,
    trigger_id: UUID | None = None,
) -> ContextSubject:
    """The subject that `who` may act for: what was asked for, narrowed to what the key is bound to.

    An owner or reader names anybody of its organization, and None names nobody.
    A member is always its own user, with any agent. An agent is always its own
    agent, for the user that its key names or for none. Raises `Refused` for
    another. Whether the ids exist is for the transaction to find out.
    """
    organization_id = organization_of(who)
    if who.role is Role.MEMBER or who.role is Role.AGENT:
        user_id = _bound("user", user_id, who.user_id)
    if who.role is Role.AGENT:
        agent_id = _bound("agent", agent_id, who.agent_id)
    return ContextSubject(
        organization_id=organization_id, user_id=user_id, trigger_id=trigger_id, agent_id=agent_id
    )


def sees(who: Principal, *, user_id: UUID | None, agent_id: UUID | None) -> bool:
    """Whether a run or conversation of this user and agent is one that `who` may know of.

    A row that is not seen is answered like one that is not there.
    """
    if who.space is not None:
        return False
    if who.role is Role.MEMBER:
        return user_id == who.user_id
    if who.role is Role.AGENT:
        return agent_id == who.agent_id and user_id == who.user_id
    return who.role in {Role.OWNER, Role.READ_ONLY}


def sees_user(who: Principal, user_id: UUID) -> bool:
    """Whether `who` may know of this user: any, or its own alone when the key is bound to one or to a space."""
    everybody = who.space is None and who.role in {Role.OWNER, Role.READ_ONLY}
    return everybody or user_id == who.user_id


def _bound(name: str, asked: UUID | None, own: UUID | None) -> UUID | None:
    if asked is not None and asked != own:
        if own is None:
            raise Refused(
                f"This key acts for no {name}. Make one that names the {name} (memoranda keys create "
                f"has --{name}), use an owner's key, or leave the {name} out."
            )
        raise Refused(f"This key acts for one {name} alone. Leave the {name} out, or name its own.")
    return own
