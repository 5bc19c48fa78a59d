"""The client: where the server is, who asks, and the rooms."""

from types import TracebackType
from typing import Final, Self

import httpx

from memoranda.client.awaited.asking import Asking
from memoranda.client.awaited.rooms import (
    AgentFiles,
    Agents,
    Briefs,
    ChatRuns,
    Chats,
    Conversations,
    Definitions,
    Dossier,
    Events,
    FileProposals,
    Files,
    Graphs,
    Health,
    Kept,
    Keys,
    Knowledge,
    Memories,
    Organizations,
    Policies,
    Proposals,
    Runs,
    State,
    Tools,
    Users,
    Workflows,
)
from memoranda.client.exchange import base_of, headers_of, seconds_of
from memoranda.client.retrying import Retries
from memoranda.words.given import checked

TIMEOUT_S: Final = 30.0


class AsyncClient:
    """The API of a server at `url`, for whoever holds `key`.

        async with AsyncClient("http://127.0.0.1:8321", key) as memoranda:
            memory = await memoranda.memories.remember("Tea is at four.")
            async for each in memoranda.memories.list.each():
                print(each.text)

    A call is given up after `timeout_s` seconds without a sign of the server; `retries` says how often one is made
    again where that is safe; without it, streams that were open are opened again for longer. `transport` stands in for the network. One client is good for many calls at once.
    """

    @checked
    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        retries: Retries | None = None,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http: Final = httpx.AsyncClient(
            base_url=base_of(url),
            headers=headers_of(key),
            timeout=seconds_of(timeout_s),
            transport=transport,
        )
        asking = Asking(self._http, retries)
        self.memories = Memories(asking)
        self.proposals = Proposals(asking)
        self.briefs = Briefs(asking)
        self.policies = Policies(asking)
        self.knowledge = Knowledge(asking)
        self.conversations = Conversations(asking)
        self.workflows = Workflows(asking)
        self.chats = Chats(asking)
        self.chat_runs = ChatRuns(asking)
        self.graphs = Graphs(asking)
        self.kept = Kept(asking)
        self.runs = Runs(asking)
        self.events = Events(asking)
        self.state = State(asking)
        self.tools = Tools(asking)
        self.dossier = Dossier(asking)
        self.definitions = Definitions(asking)
        self.files = Files(asking)
        self.agent_files = AgentFiles(asking)
        self.file_proposals = FileProposals(asking)
        self.agents = Agents(asking)
        self.users = Users(asking)
        self.organizations = Organizations(asking)
        self.keys = Keys(asking)
        self.health = Health(asking)

    async def __aenter__(self) -> Self:
        """The client, open until the block ends."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; nothing can be asked any more."""
        await self._http.aclose()
