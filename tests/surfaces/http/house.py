"""Two organizations behind one application, with a key of every role and rows of every kind."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4
from zlib import crc32

import httpx
from fastapi import FastAPI

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.app import Memoranda
from memoranda.graphs.items.models import PutItem
from memoranda.state.definitions.models import Definition, DefinitionKind, DefinitionText, Node
from memoranda.state.dossier.models import DossierText, Entry
from memoranda.surfaces.http.app import create_app
from tests.contract.kept_house import Keeping
from tests.surfaces.http.contract import Contract, description

BASE = "http://memoranda.test"
_IDLE: list[FastAPI] = []
"""Applications that no test uses now."""


class Api:
    """The API as the holder of one key meets it; every answer is held to the description."""

    def __init__(self, client: httpx.AsyncClient, contract: Contract, key: str | None) -> None:
        self._client = client
        self.contract = contract
        self.key = key

    async def send(self, method: str, path: str, **sent: Any) -> httpx.Response:
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        headers |= sent.pop("headers", {})
        response = await self._client.request(method, path, headers=headers, **sent)
        self.contract.check(response)
        return response

    async def get(self, path: str, **sent: Any) -> httpx.Response:
        return await self.send("GET", path, **sent)

    async def post(self, path: str, body: object = None, **sent: Any) -> httpx.Response:
        return await self.send("POST", path, **({"json": body} if body is not None else {}), **sent)

    async def delete(self, path: str) -> httpx.Response:
        return await self.send("DELETE", path)


@dataclass(frozen=True)
class Rows:
    """The ids of an organization's rows, one of each kind, and the word that is in all its texts."""

    word: str
    user: str
    agent: str
    key: str
    run: str
    broken_run: str
    spare_run: str
    memory: str
    forgotten: str
    proposal: str
    spare: str
    discarded: str
    conversation: str
    source: str
    failed_source: str
    policy: str
    # Of `with_calls`.
    agents_memory: str = ""
    approval: str = ""
    spare_memory: str = ""
    spare_approval: str = ""
    space: str = ""
    definition: str = ""
    skill: str = ""
    file_change: str = ""
    spare_file_change: str = ""
    chat: str = ""
    chat_message: str = ""
    chat_answer: str = ""
    chat_run: str = ""
    graph_item: str = ""
    history: str = ""
    session: str = ""

    @property
    def flow(self) -> str:
        """The workflow of the conversation that was branched."""
        return f"flow-{crc32(self.word.encode())}"

    @property
    def file(self) -> str:
        """What the organization's file and the agent's notes say."""
        return f"{self.word} file"

    def ids(self) -> set[str]:
        named = {name: value for name, value in vars(self).items() if value}
        return {value for name, value in named.items() if name not in {"word", "policy"}}


@dataclass
class House:
    """An application, its keys by role, and the rows of both organizations."""

    memoranda: Memoranda
    contract: Contract
    nobody: Api
    operator: Api
    owner: Api
    member: Api
    agent: Api
    read_only: Api
    stranger: Api
    rows: Rows
    foreign: Rows
    by_role: dict[str, Api] = field(default_factory=dict)


@asynccontextmanager
async def furnished(memoranda: Memoranda) -> AsyncIterator[House]:
    """Make both organizations, their keys and their rows, behind one application."""
    # Nothing of a test stays in an application, and its first request takes longer than all the others.
    app = _IDLE.pop() if _IDLE else create_app(memoranda)
    app.state.memoranda = memoranda
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    await (
        memoranda.events.close()
    )  # that transport reads an answer whole, so none may go on for ever
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield await _furnish(memoranda, client, Contract(description()))
    _IDLE.append(app)


async def _furnish(memoranda: Memoranda, client: httpx.AsyncClient, contract: Contract) -> House:
    operator = Api(
        client, contract, (await memoranda.access.create_key(LOCAL_OPERATOR, Role.OPERATOR)).key
    )
    owner, stranger = [
        Api(client, contract, made["key"]["key"])
        for name in ("Marigold", "Wisteria")
        for made in [(await operator.post("/v1/organizations", {"name": name})).json()]
    ]
    rows = await rows_of(memoranda, owner, "marigold")
    foreign = await rows_of(memoranda, stranger, "wisteria")
    bound = {"user_id": rows.user, "agent_id": rows.agent}
    house = House(
        memoranda=memoranda,
        contract=contract,
        nobody=Api(client, contract, None),
        operator=operator,
        owner=owner,
        member=Api(client, contract, await key_of(owner, role="member", user_id=rows.user)),
        agent=Api(client, contract, await key_of(owner, role="agent", **bound)),
        read_only=Api(client, contract, await key_of(owner, role="read_only")),
        stranger=stranger,
        rows=rows,
        foreign=foreign,
    )
    house.by_role = {
        name: getattr(house, name)
        for name in ("nobody", "operator", "owner", "member", "agent", "read_only")
    }
    return house


async def key_of(owner: Api, **grant: Any) -> str:
    key: str = (await owner.post("/v1/keys", grant)).json()["key"]
    return key


async def rows_of(memoranda: Memoranda, owner: Api, word: str) -> Rows:
    """Fill the owner's organization; its member and agent may know of every row."""

    async def made(path: str, **body: Any) -> str:
        response = await owner.post(path, body)
        assert response.is_success, response.text
        identity: str = response.json()["id"]
        return identity

    # Past the routes, whose rates some tests set very low.
    who = await memoranda.access.authenticate(owner.key or "")

    async def proposed(name: str) -> str:
        made = await memoranda.proposals.propose(
            who, f"{word} {name}", user_id=UUID(user), agent_id=UUID(agent)
        )
        assert made.proposal is not None
        return str(made.proposal.id)

    user = await made("/v1/users", name=f"{word} user", external_id=f"{word}-user")
    agent = await made("/v1/agents", slug=f"{word}-agent", external_id=f"{word}-external")
    subject = {"user_id": user, "agent_id": agent}
    conversation = await made("/v1/conversations", workflow_id=f"{word}-flow", **subject)
    await owner.post(
        f"/v1/conversations/{conversation}/messages",
        {"messages": [{"role": "user", "content": f"{word} message"}]},
    )
    run = await made("/v1/runs", input={"text": f"{word} input"}, **subject)
    await owner.post(f"/v1/runs/{run}/logs", {"step": f"{word} step"})
    await owner.post(f"/v1/runs/{run}/brief", {"query": word})
    await owner.post("/v1/policies", {"name": word, "policy": policy()})
    source = await add(owner, f"# {word}\n\nThe {word} grows in spring.\n", f"{word}.md")
    failed = await add(owner, b"\x00\x01\x02" * 50, f"{word}.bin", kind="text")
    forgotten = await memoranda.memories.remember(who, f"{word} forgotten", user_id=UUID(user))
    await memoranda.memories.forget(who, forgotten.id)
    rows = Rows(
        word=word,
        user=user,
        agent=agent,
        key=await made("/v1/keys", role="owner", name=f"{word} key"),
        run=run,
        broken_run=await made("/v1/runs", **subject),
        spare_run=await made("/v1/runs", **subject),
        memory=await made("/v1/memories", text=f"{word} memory", user_id=user),
        forgotten=str(forgotten.id),
        proposal=await proposed("proposal"),
        spare=await proposed("spare"),
        discarded=await proposed("discarded"),
        conversation=conversation,
        source=source,
        failed_source=failed,
        policy=word,
    )
    await memoranda.proposals.discard(who, UUID(rows.discarded))
    await memoranda.worker.drain()
    return rows


async def with_calls(house: House) -> House:
    """The same, and in both organizations a space, and calls of the agent that wait for a person."""
    house.rows = await _with_calls(house.memoranda, house.owner, house.rows)
    house.foreign = await _with_calls(house.memoranda, house.stranger, house.foreign)
    return house


async def _with_calls(memoranda: Memoranda, owner: Api, rows: Rows) -> Rows:
    who = await memoranda.access.authenticate(owner.key or "")
    subject = {"user_id": UUID(rows.user), "agent_id": UUID(rows.agent)}
    agents = Principal(organization_id=who.organization_id, role=Role.AGENT, **subject)

    async def asked(name: str) -> tuple[str, str]:
        """A memory of the agent, and the approval of its wish to forget it."""
        kept = await memoranda.memories.remember(who, f"{rows.word} {name}", **subject)
        wish = {"memory_id": str(kept.id), "expected_version": 1}
        waiting = (await memoranda.tools.invoke(agents, "forget", wish)).answer
        return str(kept.id), str(waiting["approval_id"])

    agents_memory, approval = await asked("agents")
    spare_memory, spare_approval = await asked("spare agents")
    space = await memoranda.tools.spaces.publish(
        who,
        f"{rows.word}-flow",
        "node",
        agent_id=UUID(rows.agent),
        tools=["recall", "remember"],
    )
    definition = await _with_state(memoranda, who, rows)
    file_change, spare_file_change = await _with_files(memoranda, who, rows)
    skill = await _with_instructions(memoranda, who, rows)
    return replace(
        await _with_kept(memoranda, who, await _with_chat(memoranda, who, rows)),
        definition=str(definition.id),
        skill=str(skill.id),
        file_change=file_change,
        spare_file_change=spare_file_change,
        agents_memory=agents_memory,
        approval=approval,
        spare_memory=spare_memory,
        spare_approval=spare_approval,
        space=str(space.id),
    )


async def _with_state(memoranda: Memoranda, who: Principal, rows: Rows) -> Definition:
    """What the organization says of itself, and a definition, which it publishes."""
    offers = [Entry(name=f"{rows.word} offer")]
    await memoranda.dossier.put(who, DossierText(offers=offers), 0)
    await memoranda.dossier.put_user(who, UUID(rows.user), f"{rows.word} section", 0)
    text = DefinitionText(name=f"{rows.word} flow", nodes=[Node(id="look", tools=["recall"])])
    made = await memoranda.definitions.create(who, DefinitionKind.WORKFLOW, rows.word, text)
    return await memoranda.definitions.publish(who, made.id)


async def _with_instructions(memoranda: Memoranda, who: Principal, rows: Rows) -> Definition:
    """A skill that the agent is bound to, and what its run is told."""
    text = DefinitionText(name=f"{rows.word} skill", body=f"{rows.word} by heart.")
    made = await memoranda.definitions.create(who, DefinitionKind.SKILL, rows.word, text)
    skill = await memoranda.definitions.publish(who, made.id)
    await memoranda.skills.bind(who, rows.agent, skill.id)
    await memoranda.instructions.set_of_agent(
        who, rows.agent, capabilities=f"{rows.word} capabilities", skills_cap=None
    )
    await memoranda.instructions.assemble(who, UUID(rows.run))
    return skill


async def _with_chat(memoranda: Memoranda, who: Principal, rows: Rows) -> Rows:
    """A chat of the user with the agent: one message that was answered, and one whose run waits to be picked up."""
    chats = memoranda.chats
    subject = {"user_id": UUID(rows.user), "agent_id": UUID(rows.agent)}
    chat = await chats.create(who, title=f"{rows.word} chat", **subject)
    asked = await chats.send(who, chat.id, f"{rows.word} asks first")
    await chats.pick_up(who, asked.run.id)
    done = await chats.answer(who, asked.run.id, f"{rows.word} answers first")
    again = await chats.send(who, chat.id, f"{rows.word} asks again")
    return replace(
        rows,
        chat=str(chat.id),
        chat_message=str(asked.message.id),
        chat_answer=str(done.run.answer_id),
        chat_run=str(again.run.id),
    )


async def _with_kept(memoranda: Memoranda, who: Principal, rows: Rows) -> Rows:
    """What agent frameworks keep of the user with the agent."""
    user, agent = UUID(rows.user), UUID(rows.agent)
    kept = Keeping(memoranda, who, rows.word, user, agent)
    await kept.everything()
    more = PutItem((rows.word, "more"), "key", {"said": f"{rows.word} more"})
    await memoranda.graphs.items.batch(who, [more], user_id=user, agent_id=agent)
    items = await memoranda.graphs.namespaces.items(who, (rows.word, "notes"))
    return replace(
        rows,
        graph_item=str(items.items[0].id),
        history=str((await memoranda.kept.histories.page(who)).items[0].id),
        session=str((await memoranda.kept.sessions.page(who)).items[0].id),
    )


async def _with_files(memoranda: Memoranda, who: Principal, rows: Rows) -> list[str]:
    """A word in the organization's files and in the agent's, and two changes that the agent proposes."""
    files = memoranda.files
    for name, agent in (("voice", None), ("NOTES.md", rows.agent)):
        read = (await files.get(who, name, agent=agent)).hash
        await files.write(who, name, rows.file, read, agent=agent)
    read = (await files.get(who, "glossary")).hash
    subject = {"user_id": UUID(rows.user), "agent_id": UUID(rows.agent)}
    agents = Principal(organization_id=who.organization_id, role=Role.AGENT, **subject)
    changes = [
        await memoranda.file_proposals.propose(agents, "glossary", f"{rows.word} {name}", read)
        for name in ("change", "spare change")
    ]
    return [str(change.id) for change in changes]


async def add(owner: Api, content: str | bytes, name: str, **fields: str) -> str:
    response = await owner.post(
        "/v1/knowledge/sources", files={"file": (name, content)}, data=fields
    )
    assert response.status_code == 202, response.text
    identity: str = response.json()["id"]
    return identity


def policy(**changes: Any) -> dict[str, Any]:
    source = {"name": "memory", "token_budget": 500, "limit": 20}
    return {"sources": [source], "total_token_budget": 1_000, **changes}


def text_of(response: httpx.Response) -> str:
    """All that an answer says, headers too."""
    return response.text + json.dumps(dict(response.headers))


def unknown_id() -> str:
    return str(uuid4())
