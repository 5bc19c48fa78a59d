"""A brief from real rows: what each source brings, whose it is, and under which policy."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.service import Access
from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.models import (
    ContextBrief,
    ContextKind,
    ContextPolicy,
    ContextSourceSpec,
)
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.registry import ContextSource, ContextSourceRegistry
from memoranda.briefs.service import Briefs
from memoranda.briefs.sources.conversation import ConversationSource
from memoranda.briefs.sources.knowledge import KnowledgeSource
from memoranda.briefs.sources.memory import MemorySource
from memoranda.briefs.sources.personal_memory import PersonalMemorySource
from memoranda.conversations.models import Message
from memoranda.conversations.service import Conversations
from memoranda.knowledge.service import Knowledge
from memoranda.memories.service import Memories
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, PolicyRejected, RequiredContextSourceError

HANDBOOK = b"""# Handbook

We never promise a delivery under ten working days.

## Refunds

A refund takes two weeks and goes to the card it came from.
"""


class House:
    """The services that a brief needs, joined over one storage."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.access = Access(storage)
        self.memories = Memories(storage)
        self.conversations = Conversations(storage)
        self.knowledge = Knowledge(storage, max_bytes=100_000)
        self.runs = Runs(storage)
        sources: list[ContextSource] = [
            MemorySource(self.memories),
            PersonalMemorySource(self.memories),
            KnowledgeSource(self.knowledge),
            ConversationSource(self.conversations),
        ]
        registry = ContextSourceRegistry(sources)
        builder = DefaultContextBuilder(registry, ContextPacker())
        self.briefs = Briefs(storage, self.runs, self.conversations, registry, builder)

    async def add(self, who: Principal, content: bytes, title: str = "handbook.md") -> None:
        source = await self.knowledge.add(who, content, title=title)
        assert who.organization_id is not None
        worker = uuid4()
        claimed = await self.knowledge.claim(who.organization_id, worker)
        assert claimed == source.id
        await self.knowledge.ingest(who.organization_id, claimed, worker)


@pytest.fixture
def house(storage: Storage) -> House:
    return House(storage)


@pytest.fixture
async def owner(house: House) -> Principal:
    return await house.access.ensure_default()


def policy(
    *names: ContextKind, tokens: int = 500, total: int = 2_000, **spec: Any
) -> ContextPolicy:
    knowledge = {"include_organization": True}
    return ContextPolicy(
        sources=[
            ContextSourceSpec(
                name=name,
                token_budget=tokens,
                options=knowledge if name == "knowledge" else {},
                **spec,
            )
            for name in names
        ],
        total_token_budget=total,
    )


def sections(brief: ContextBrief) -> list[str]:
    return [line for line in brief.text.splitlines() if line.startswith("## ")]


async def test_each_source_brings_what_it_holds_in_the_order_of_classes(
    house: House, owner: Principal
) -> None:
    user = await house.access.create_user(owner, "Ana")
    await house.memories.remember(owner, "Orders ship from Leipzig.")
    await house.memories.remember(owner, "Write in British English.", user_id=user.id)
    await house.add(owner, HANDBOOK)
    talk = await house.conversations.create(owner, user_id=user.id)
    await house.conversations.append(
        owner,
        talk.id,
        [
            Message(role="system", content="You are helpful."),
            Message(role="user", content="When will it arrive?"),
            Message(role="assistant", content=[{"type": "text", "text": "Let me look."}]),
        ],
    )
    brief = await house.briefs.build(
        owner, "What may I promise about delivery?", user_id=user.id, conversation=talk.id
    )
    assert sections(brief) == [
        "## Conversation",
        "## Personal memory",
        "## Knowledge",
        "## Memory",
    ]
    assert "never promise a delivery under ten working days" in brief.text
    assert "You are helpful" not in brief.text
    assert brief.text.index("When will it arrive?") < brief.text.index("Let me look.")
    assert brief.failed_sources == []
    assert {ref.kind for ref in brief.items} == {"memory", "chunk"}


async def test_the_same_rows_give_the_same_bytes(house: House, owner: Principal) -> None:
    await house.memories.remember(owner, "Orders ship from Leipzig.")
    await house.add(owner, HANDBOOK)
    briefs = [await house.briefs.build(owner, "refund", explain=True) for _ in range(3)]
    assert len({brief.digest for brief in briefs}) == 1
    assert briefs[0] == briefs[1] == briefs[2]


async def test_a_brief_holds_only_what_its_subject_may_know(house: House, owner: Principal) -> None:
    ana, ben = [await house.access.create_user(owner, name) for name in ("Ana", "Ben")]
    agents = [await house.access.create_agent(owner, slug) for slug in ("writer", "caller")]
    await house.memories.remember(owner, "For everybody.")
    await house.memories.remember(owner, "For Ana alone.", user_id=ana.id)
    await house.memories.remember(owner, "For Ben alone.", user_id=ben.id)
    await house.memories.remember(owner, "For the writer.", agent_id=agents[0].id)
    await house.memories.remember(
        owner, "For Ana with the caller.", user_id=ana.id, agent_id=agents[1].id
    )

    async def known(**subject: UUID) -> set[str]:
        text = (await house.briefs.build(owner, "?", **subject)).text
        return {line.rpartition("] ")[2] for line in text.splitlines() if line.startswith("- ")}

    assert await known(user_id=ben.id, agent_id=agents[1].id) == {
        "For everybody.",
        "For Ben alone.",
    }
    assert await known(user_id=ana.id, agent_id=agents[1].id) == {
        "For everybody.",
        "For Ana alone.",
        "For Ana with the caller.",
    }
    assert await known(agent_id=agents[0].id) == {"For everybody.", "For the writer."}
    assert await known(trigger_id=uuid4()) == {"For everybody.", "For the writer."}


async def test_two_organizations_never_meet_in_a_brief(house: House, owner: Principal) -> None:
    made = await house.access.create_organization(LOCAL_OPERATOR, "Other")
    other = Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)
    await house.memories.remember(owner, "Ours ships from Leipzig.")
    await house.add(owner, HANDBOOK)
    talk = await house.conversations.create(owner)
    run = await house.runs.create(owner)
    agent = await house.access.create_agent(owner, "writer")
    brief = await house.briefs.build(other, "refund delivery Leipzig", explain=True)
    assert (brief.text, brief.items, brief.explain) == ("", [], [])
    for foreign in (
        {"conversation": talk.id},
        {"run_id": run.id},
        {"agent_id": agent.id},
        {"user_id": owner.user_id},
    ):
        with pytest.raises(NotFound):
            await house.briefs.build(other, "refund", **foreign)


async def test_an_owners_brief_for_one_user_or_agent_cant_name_anothers_conversation(
    house: House, owner: Principal
) -> None:
    ana, ben = [await house.access.create_user(owner, name) for name in ("Ana", "Ben")]
    writer, editor = [await house.access.create_agent(owner, name) for name in ("writer", "editor")]
    hers = await house.conversations.create(owner, user_id=ana.id)
    writers = await house.conversations.create(owner, user_id=ana.id, agent_id=writer.id)
    for conversation, subject in (
        (hers, {"user_id": ben.id}),
        (writers, {"user_id": ana.id, "agent_id": editor.id}),
    ):
        with pytest.raises(NotFound):
            await house.briefs.build(owner, "?", conversation=conversation.id, **subject)
    for conversation in (hers, writers):
        brief = await house.briefs.build(
            owner, "?", conversation=conversation.id, user_id=ana.id, agent_id=writer.id
        )
        assert brief.failed_sources == []


async def test_forgotten_and_superseded_memories_never_reach_a_brief(
    house: House, owner: Principal
) -> None:
    await house.memories.remember(owner, "It is Ana.", attribute="observation.name")
    await house.memories.remember(owner, "It is Ben.", attribute="observation.name")
    gone = await house.memories.remember(owner, "Forget me.")
    await house.memories.forget(owner, gone.id)
    brief = await house.briefs.build(owner, "?")
    assert "It is Ben." in brief.text
    assert "Ana" not in brief.text
    assert "Forget me" not in brief.text


async def test_a_tight_budget_drops_whole_items_and_says_which(
    house: House, owner: Principal
) -> None:
    for number in range(6):
        await house.memories.remember(owner, f"Fact number {number} of a handful of facts.")
    await house.add(owner, HANDBOOK)
    brief = await house.briefs.build(
        owner, "refund", policy=policy("knowledge", "memory", tokens=45), explain=True
    )
    assert brief.explain is not None
    outcomes = [entry.outcome for entry in brief.explain]
    assert outcomes.count("over_source_budget") == sum(brief.dropped.values()) > 0
    assert brief.dropped["knowledge"] > 0
    assert brief.tokens <= 2 * 45 + 20


async def test_the_conversation_source_leaves_nothing_for_the_packer_to_drop(
    house: House, owner: Principal
) -> None:
    talk = await house.conversations.create(owner)
    said = [Message(role="user", content=f"Message number {n} is here.") for n in range(60)]
    await house.conversations.append(owner, talk.id, said)
    brief = await house.briefs.build(
        owner, "?", policy=policy("conversation", tokens=150), conversation=talk.id, explain=True
    )
    assert brief.dropped == {"conversation": 0}
    lines = [line for line in brief.text.splitlines() if line.startswith("- ")]
    assert len(lines) > 3
    assert "number 59" in lines[-1]
    assert "number 58" in lines[-2]


async def test_a_last_message_that_no_budget_holds_is_counted_and_explained(
    house: House, owner: Principal
) -> None:
    talk = await house.conversations.create(owner)
    said = [Message(role="user", content=content) for content in ("Short.", "long " * 500)]
    await house.conversations.append(owner, talk.id, said)
    brief = await house.briefs.build(
        owner, "?", policy=policy("conversation", tokens=150), conversation=talk.id, explain=True
    )
    assert brief.text == ""
    assert brief.dropped == {"conversation": 1}
    assert brief.explain is not None
    assert [entry.outcome for entry in brief.explain] == ["over_source_budget"]


@pytest.mark.parametrize("name", ["\0", "\ud800", "../other", "A", "a" * 100_000, "\u202e", ""])
async def test_a_policy_name_that_cannot_be_published_is_not_found_on_either_database(
    house: House, owner: Principal, name: str
) -> None:
    with pytest.raises(NotFound) as refused:
        await house.briefs.policy(owner, name)
    assert len(refused.value.message) < 500
    with pytest.raises(NotFound):
        await house.briefs.build(owner, "?", policy_name=name)


async def test_a_source_without_a_reader_is_named_as_unavailable(
    house: House, owner: Principal
) -> None:
    await house.memories.remember(owner, "Orders ship from Leipzig.")
    brief = await house.briefs.build(owner, "?", policy_name="front_door")
    assert {"application", "dossier", "definition_summary", "run_history"} <= set(
        brief.failed_sources
    )
    assert brief.text.splitlines()[0].startswith("Unavailable sources: ")
    required = policy("memory", "dossier").model_dump()
    required["sources"][1]["required"] = True
    with pytest.raises(RequiredContextSourceError, match="dossier"):
        await house.briefs.build(owner, "?", policy=required)


async def test_the_front_door_has_no_agent(house: House, owner: Principal) -> None:
    agent = await house.access.create_agent(owner, "writer")
    with pytest.raises(Invalid, match="before any agent"):
        await house.briefs.build(owner, "?", agent_id=agent.id, policy_name="front_door")


async def test_the_default_policy_uses_what_has_a_reader(house: House, owner: Principal) -> None:
    named = await house.briefs.policy(owner, "default")
    assert [spec.name for spec in named.policy.sources] == [
        "conversation",
        "personal_memory",
        "knowledge",
        "memory",
    ]


async def test_policies_are_published_version_by_version_and_never_changed(
    house: House, owner: Principal
) -> None:
    first = await house.briefs.publish(owner, "support", policy("memory").model_dump())
    second = await house.briefs.publish(owner, "support", policy("memory", tokens=9).model_dump())
    assert (first.version, second.version) == (1, 2)
    assert (await house.briefs.policy(owner, "support")) == second
    assert (await house.briefs.policy(owner, "support", 1)) == first
    assert [p.name for p in await house.briefs.policies(owner)] == [
        "default",
        "front_door",
        "support",
    ]
    with pytest.raises(NotFound):
        await house.briefs.policy(owner, "support", 3)


async def test_policies_of_one_organization_are_not_another_ones(
    house: House, owner: Principal
) -> None:
    await house.briefs.publish(owner, "support", policy("memory").model_dump())
    made = await house.access.create_organization(LOCAL_OPERATOR, "Other")
    other = Principal(organization_id=made.organization.id, role=Role.OWNER)
    with pytest.raises(NotFound):
        await house.briefs.policy(other, "support")
    assert [p.name for p in await house.briefs.policies(other)] == ["default", "front_door"]


async def test_writers_publishing_one_name_at_once_get_a_version_each(
    house: House, owner: Principal
) -> None:
    made = await asyncio.gather(
        *(house.briefs.publish(owner, "support", policy("memory").model_dump()) for _ in range(8))
    )
    assert sorted(p.version for p in made) == list(range(1, 9))


async def test_a_policy_that_may_not_be_published_changes_nothing(
    house: House, owner: Principal
) -> None:
    bad = {"sources": [{"name": "memory", "token_budget": 0}], "total_token_budget": 0}
    with pytest.raises(PolicyRejected) as refused:
        await house.briefs.publish(owner, "support", bad)
    paths = {path for path, _ in refused.value.rejections}
    assert paths == {("sources", 0, "token_budget"), ("total_token_budget",)}
    for name in ("default", "front_door", "", "No Spaces", "x" * 65):
        with pytest.raises(Invalid):
            await house.briefs.publish(owner, name, policy("memory").model_dump())
    assert [p.version for p in await house.briefs.policies(owner)] == [0, 0]


@pytest.mark.parametrize(
    "wrong", [{"policy_name": "default", "policy": {}}, {"budget": 0}, {"budget": -5}]
)
async def test_a_brief_refuses_what_makes_no_sense(
    house: House, owner: Principal, wrong: dict[str, Any]
) -> None:
    with pytest.raises(Invalid):
        await house.briefs.build(owner, "?", **wrong)


async def test_weak_and_repeated_answers_take_no_room(house: House, owner: Principal) -> None:
    for title in ("one.md", "two.md"):
        await house.add(owner, HANDBOOK, title)
    notes = "\n\n".join(f"The {n} box holds a refund form of another kind." for n in range(40))
    await house.add(owner, notes.encode(), "boxes.txt")
    brief = await house.briefs.build(
        owner, "How long does a refund to my card take?", policy=policy("knowledge"), explain=True
    )
    assert brief.text.count("A refund takes two weeks") == 1
    assert "box" not in brief.text
