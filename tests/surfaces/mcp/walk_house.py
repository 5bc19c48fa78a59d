"""Organizations alike to the letter, with a row for every audience, and a plain model of who may know which.

Each text holds one word that no other text holds, so that an answer shows whose rows it was made of.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.app import Memoranda
from memoranda.conversations.models import Message
from memoranda.tools.models import Decision

FLOW: Final = "flow"
PHRASE: Final = "kettle of the third floor"
"""What all texts hold: whoever looks for it finds all that it may find."""
WORD: Final = re.compile(r"(?:acme|zeta)q[a-z]+x")
WRITES: Final = ("remember", "update", "forget")
FILE_WRITES: Final = ("update_context_file", "update_notes")
IN_SPACES: Final = ("recall", "list", "get", "search_knowledge")


class Row(NamedTuple):
    """For whom a memory is; an unset part means all."""

    user: str | None = None
    agent: str | None = None
    space: str | None = None


class Caller(NamedTuple):
    """What a key is bound to."""

    role: Role
    user: str | None = None
    agent: str | None = None
    space: str | None = None


ROWS: Final = {
    "all": Row(),
    "one": Row(space="one"),
    "anna": Row(user="anna"),
    "scout": Row(agent="scout"),
    "oneanna": Row(user="anna", space="one"),
    "ben": Row(user="ben"),
    "annascout": Row(user="anna", agent="scout"),
    "two": Row(space="two"),
    "clerk": Row(agent="clerk"),
    "benscout": Row(user="ben", agent="scout"),
    "oneben": Row(user="ben", space="one"),
    "annaclerk": Row(user="anna", agent="clerk"),
    "twoanna": Row(user="anna", space="two"),
    "three": Row(space="three"),
}
CALLERS: Final = {
    "owner": Caller(Role.OWNER),
    "reader": Caller(Role.READ_ONLY),
    "anna": Caller(Role.MEMBER, user="anna"),
    "ben": Caller(Role.MEMBER, user="ben"),
    "scout": Caller(Role.AGENT, agent="scout"),
    "scout for anna": Caller(Role.AGENT, user="anna", agent="scout"),
    "scout for ben": Caller(Role.AGENT, user="ben", agent="scout"),
    "clerk": Caller(Role.AGENT, agent="clerk"),
    "clerk for anna": Caller(Role.AGENT, user="anna", agent="clerk"),
    "one": Caller(Role.AGENT, agent="scout", space="one"),
    "one for anna": Caller(Role.AGENT, user="anna", agent="scout", space="one"),
    "one for ben": Caller(Role.AGENT, user="ben", agent="scout", space="one"),
    "two": Caller(Role.AGENT, agent="clerk", space="two"),
    "two for anna": Caller(Role.AGENT, user="anna", agent="clerk", space="two"),
    "three": Caller(Role.READ_ONLY, space="three"),
}
"""One of every kind of key. The scout may write, the clerk has to ask, and the third space has no agent."""


# --- who may know what --------------------------------------------------------------------------


def sees_all(caller: Caller) -> bool:
    """Whether the key is for the whole organization."""
    return caller.space is None and caller.role in {Role.OWNER, Role.READ_ONLY}


def finds(caller: Caller, row: Row) -> bool:
    """Whether a recall may find the row."""
    if caller.space != row.space:
        return False
    if sees_all(caller):
        return True
    bound = caller.space is None and caller.agent is not None
    return row.user in {None, caller.user} and (not bound or row.agent in {None, caller.agent})


def lists(caller: Caller, row: Row) -> bool:
    """Whether the row is listed and read by its id: a key for the whole organization keeps its spaces in view."""
    return sees_all(caller) or finds(caller, row)


def briefed(caller: Caller, row: Row) -> bool:
    """Whether a brief holds the row: one of nobody's in particular holds no user's, and a space has none."""
    return caller.space is None and finds(caller, row) and row.user in {None, caller.user}


def changes(caller: Caller, row: Row) -> bool:
    """Whether the caller changes the row, or asks to."""
    if caller.role is Role.READ_ONLY or not lists(caller, row):
        return False
    if caller.role is Role.MEMBER:
        return row.user == caller.user
    return caller.role is Role.OWNER or caller.space is not None or row.agent == caller.agent


def asks(caller: Caller) -> bool:
    """Whether a person is asked before what the caller writes is done."""
    return caller.agent == "clerk"


def takes_part(caller: Caller, user: str) -> bool:
    """Whether the caller may have a brief go on with the scout's conversation with that user."""
    alone = caller.role is Role.MEMBER or caller.agent == "scout"
    return caller.space is None and caller.user == user and alone


def heard(caller: Caller, user: str) -> bool:
    """Whether the caller may find what that user said to the scout."""
    if caller.space is not None:
        return False
    return caller.role in {Role.OWNER, Role.READ_ONLY} or takes_part(caller, user)


def has_run(caller: Caller, user: str) -> bool:
    """Whether the run for that user is one of those that a brief of the caller looks back at."""
    return caller.space is None and caller.user == user


def writes_for(caller: Caller) -> Row:
    """For whom it is what the caller remembers."""
    if caller.space is not None:
        return Row(user=caller.user, space=caller.space)
    return Row(user=caller.user, agent=caller.agent)


# --- the house ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class House:
    """An organization: its keys and callers by name, and the ids of its rows."""

    name: str
    owner: Principal
    people: dict[str, UUID]
    agents: dict[str, UUID]
    memories: dict[str, UUID] = field(default_factory=dict)
    others: dict[str, UUID] = field(default_factory=dict)
    """Of whatever is no memory that anybody lists."""
    keys: dict[str, str] = field(default_factory=dict)
    callers: dict[str, Principal] = field(default_factory=dict)

    @property
    def organization(self) -> UUID:
        assert self.owner.organization_id is not None
        return self.owner.organization_id

    def word(self, name: str) -> str:
        return f"{self.name}q{name}x"

    def words(self, caller: str, may: Callable[[Caller, Row], bool], *also: str) -> set[str]:
        """The words of the rows that the caller may know in that way, and of `also`."""
        named = [name for name, row in ROWS.items() if may(CALLERS[caller], row)]
        return {self.word(name) for name in (*named, *also)}

    def text(self, name: str) -> str:
        return f"The {PHRASE} is descaled on Mondays, as {self.word(name)} says."

    def ids(self) -> set[str]:
        return {str(each) for each in (*self.memories.values(), *self.others.values())}


async def furnish(memoranda: Memoranda, name: str, *, alone: Caller | None = None) -> House:
    """Make an organization with all its rows; for one caller alone, with those that a recall of it may find."""
    access = memoranda.access
    made = await access.create_organization(LOCAL_OPERATOR, name)
    owner = Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)
    people = {who: (await access.create_user(owner, who, who)).id for who in ("anna", "ben")}
    agents = {
        slug: (await access.create_agent(owner, slug, external_id=slug)).id
        for slug in ("scout", "clerk")
    }
    house = House(name, owner, people, agents)
    for tool in WRITES:
        await memoranda.tools.policies.set(owner, agents["scout"], tool, Decision.ALLOW)
    for node in ("one", "two", "three"):
        await _publish(memoranda, house, node, "scout")
    for row_name, row in ROWS.items():
        if alone is None or finds(alone, row):
            house.memories[row_name] = await _remember(memoranda, house, row_name, row)
    await _publish(memoranda, house, "two", "clerk")
    await _publish(memoranda, house, "three", None)
    await _open(memoranda, house)
    await _tell(memoranda, house, alone)
    if alone is None:
        await _ask(memoranda, house)
    await memoranda.worker.drain()
    await memoranda.tools.settled()
    return house


async def _publish(memoranda: Memoranda, house: House, node: str, agent: str | None) -> None:
    space = await memoranda.tools.spaces.publish(
        house.owner,
        FLOW,
        node,
        agent_id=None if agent is None else house.agents[agent],
        tools=IN_SPACES if agent is None else [*IN_SPACES, *WRITES],
    )
    house.others[f"space {node}"] = space.id


async def _remember(memoranda: Memoranda, house: House, name: str, row: Row) -> UUID:
    said: dict[str, Any] = {
        "title": "Kettle",
        "category": "chores",
        "tags": ["kettle"],
    }
    if row.agent is None:  # a brief has one fact under an attribute, and is to have each of these
        said["attribute"] = "preference.kettle"
    user = None if row.user is None else house.people[row.user]
    if row.space is None:
        agent = None if row.agent is None else house.agents[row.agent]
        text = house.text(name)
        kept = await memoranda.memories.remember(
            house.owner, text, user_id=user, agent_id=agent, **said
        )
        return kept.id
    node = await memoranda.tools.spaces.bound(house.owner, FLOW, row.space, user_id=user)
    answer, _ = await memoranda.tools.invoke(
        node, "remember", {"content": house.text(name), **said}
    )
    return UUID(answer["memory_id"])


async def _open(memoranda: Memoranda, house: House) -> None:
    """Make a key of each kind."""
    for name, caller in CALLERS.items():
        space = house.others.get(f"space {caller.space}")
        made = await memoranda.access.create_key(
            house.owner,
            caller.role,
            name,
            user_id=None if caller.user is None else house.people[caller.user],
            agent_id=None if caller.agent is None else house.agents[caller.agent],
            space_id=space,
        )
        house.keys[name] = made.key
        house.others["key"] = made.id
        house.callers[name] = await memoranda.access.authenticate(made.key)


async def _tell(memoranda: Memoranda, house: House, alone: Caller | None) -> None:
    """Take in a document, publish a policy; and let each person have a run and a conversation with the scout."""
    owner = house.owner
    source = await memoranda.knowledge.add(
        owner, house.text("document").encode(), title="kettles.md", object_key="kettles"
    )
    house.others["document"] = source.id
    file = await memoranda.files.get(owner, "people")
    await memoranda.files.write(owner, "people", house.text("file"), file.hash)
    for slug in house.agents:
        await memoranda.files.listed(owner, agent=slug)
    policy = {
        "sources": [{"name": "memory", "token_budget": 500, "limit": 20}],
        "total_token_budget": 1_000,
    }
    for name in ("shared", f"only-{house.name}"):
        await memoranda.briefs.publish(owner, name, policy)
    for user in house.people:
        of = {"user_id": house.people[user], "agent_id": house.agents["scout"]}
        if alone is None or has_run(alone, user):
            run = await memoranda.runs.create(owner, input=house.text(f"run{user}"), **of)
            house.others[f"run {user}"] = run.id
        if alone is None or takes_part(alone, user):
            talk = await memoranda.conversations.create(
                owner, workflow_id=f"{FLOW} of {user}", **of
            )
            said = Message(role="user", content=house.text(f"said{user}"))
            await memoranda.conversations.append(owner, talk.id, [said])
            house.others[f"conversation {user}"] = talk.id


async def _ask(memoranda: Memoranda, house: House) -> None:
    """Let something be forgotten, something be proposed, and something wait for a person."""
    gone = await memoranda.memories.remember(house.owner, house.text("gone"))
    await memoranda.memories.forget(house.owner, gone.id)
    house.others["gone"] = gone.id
    for name, row in (("clerk", "clerk"), ("clerk for anna", "annaclerk"), ("two", "two")):
        caller, invoke = house.callers[name], memoranda.tools.invoke
        word = f"proposed{row}"
        proposed, _ = await invoke(caller, "remember", {"content": house.text(word)}, key="first")
        change = {
            "memory_id": str(house.memories[row]),
            "expected_version": 1,
            "patch": {"content": house.text(f"asked{row}")},
        }
        waiting, _ = await invoke(caller, "update", change, key="second")
        house.others[word] = UUID(proposed["proposal_id"])
        house.others[f"asked{row}"] = UUID(waiting["approval_id"])
