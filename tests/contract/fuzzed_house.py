"""The opened product with callers of every kind, and a watch over all that its tools may write."""

import asyncio
from contextlib import ExitStack
from typing import Any, Final
from uuid import UUID

from sqlalchemy import bindparam

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.storage import Transaction
from memoranda.storage.tables import tool_calls
from memoranda.surfaces.mcp.catalog import catalog
from memoranda.tools.models import Decision, Effect, ToolResult
from memoranda.words.errors import MemorandaError
from tests.contract.file_house import EMPTY
from tests.contract.hostile_arguments import DIGITS, SECRET, Form
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.tool_house import ROWS

NEW_LINES: Final = ROWS["calls"].where(tool_calls.c.id > bindparam("last"))
OFFERS: Final = {offer.name: offer for offer in catalog()}
"""Every tool that the product has, by its own account."""
FORMS: Final = {name: Form(offer.input_schema) for name, offer in OFFERS.items()}
KINDS: Final = {kind.kind for kind in MemorandaError.__subclasses__()}
LONGEST_REFUSAL: Final = 12_000


def codes() -> set[str]:
    """Every code that an error of ours has."""
    found, left = set(), list(MemorandaError.__subclasses__())
    while left:
        error = left.pop()
        found.add(error.code)
        left += error.__subclasses__()
    return found


class FuzzedHouse:
    """One organization of the opened product, on a loop of its own, because what draws examples awaits nothing."""

    def __init__(self, url: str) -> None:
        self._calls = self.expected = 0
        self._last_line = UUID(int=0)
        self._stack = ExitStack()
        runner = self._stack.enter_context(asyncio.Runner())
        self.run = runner.run
        settings = Settings.load(
            embedder="none", max_memories=40, max_proposals=10, max_approvals=5
        )
        opened = Memoranda.open(url, settings=settings)
        self.product = self.run(opened.__aenter__())
        self._stack.callback(lambda: self.run(opened.__aexit__(None, None, None)))
        self.acme: Tenant = self.run(new_tenant(self.product.storage))
        self.callers = self.run(self._callers())
        self.memory_ids = self.run(self._furnish())
        self.rows = self.run(self._rows())

    def close(self) -> None:
        self._stack.close()

    @property
    def pools(self) -> dict[str, list[Any]]:
        """What fits a field by its name or its format, so that valid arguments also find something."""
        return {
            "uuid": self.memory_ids,
            "date-time": ["2100-01-01T09:00:00+01:00", "2100-01-01T00:00:00Z"],
            "attribute": ["observation.tea", "preference.tea"],
            "policy_name": ["default", "front_door"],
            "cursor": [None],
            "slug": ["people", "voice", "NOTES.md"],
            "expected_hash": [EMPTY],
        }

    def call(self, who: Principal, tool: str, arguments: object) -> ToolResult:
        """Call a tool, and hold what comes of it to all that is promised."""
        self._calls += 1
        calling = self.product.tools.call(who, tool, arguments, key=f"key {self._calls}")
        result = self.run(calling)
        assert isinstance(result, ToolResult)
        assert (result.answer is None) is not (result.refusal is None)
        if result.refusal is None:
            assert not FORMS[tool].forbids(arguments), "taken against its own schema"
            if OFFERS[tool].effect is Effect.WRITES:
                self.rows = self.run(self._rows())
                self.rows.pop("calls")
            else:
                self.expected += 1
        else:
            self.expected += 1
            hold_refusal(result)
        return result

    def hold_unwritten(self) -> None:
        """Since the last call that wrote there is nothing new but a line for each call."""
        expected, before = self.expected, self.rows
        self.rows = self.run(self._rows())
        lines = self.rows.pop("calls")
        assert len(lines) == expected
        assert {line.outcome for line in lines} <= {"refused", "done"}
        for name, rows in self.rows.items():
            assert rows == before[name], name

    async def _rows(self) -> dict[str, list[Any]]:
        """Every row that a tool may write, and of the journal the lines that have come since the last look."""
        await self.product.tools.settled()
        self.expected = 0

        def read(tx: Transaction) -> dict[str, list[Any]]:
            found = {name: tx.all(rows) for name, rows in ROWS.items() if name != "calls"}
            by_key = {name: sorted(rows, key=repr) for name, rows in found.items()}
            return {**by_key, "calls": tx.all(NEW_LINES, last=self._last_line)}

        organization = self.acme.owner.organization_id
        assert organization is not None
        rows = await self.product.storage.read(organization, read)
        self._last_line = max([self._last_line, *(line.id for line in rows["calls"])])
        return rows

    async def _callers(self) -> dict[str, Principal]:
        acme, tools = self.acme, self.product.tools
        for name, offer in OFFERS.items():
            if offer.effect is Effect.WRITES:
                await tools.policies.set(acme.owner, acme.clerk.id, name, Decision.ALLOW)
        await tools.spaces.publish(
            acme.owner,
            "flow",
            "node",
            agent_id=acme.clerk.id,
            tools=[tool.name for tool in tools._registry if tool.in_spaces],
        )
        return {
            "an owner": acme.owner,
            "a member": acme.member(acme.anna),
            "an agent who asks": acme.key_of(acme.scout),
            "an agent who may": acme.key_of(acme.clerk, acme.anna),
            "a node": await tools.spaces.bound(acme.owner, "flow", "node"),
        }

    async def _furnish(self) -> list[str]:
        made = []
        for who in self.callers.values():
            result = await self.product.tools.call(who, "remember", {"content": "a plain text"})
            assert result.answer is not None, result.refusal
            made.append(result.answer["memory_id"])
        return [each for each in made if each is not None]


def hold_refusal(result: ToolResult) -> None:
    """A refusal is typed, says what to do in few words, and repeats nothing that it refuses."""
    refusal = result.refusal
    assert refusal is not None
    assert refusal.code in codes() - {"tool_failed"}, refusal
    assert refusal.kind in KINDS
    assert refusal.message.strip()
    told = dict(refusal.details)
    if refusal.code == "stale_version":
        del told["text"]  # what the memory says by now: nobody's argument, and whole
    if refusal.code == "file_changed":
        del told["current_body"]  # likewise, of a file
    said = refusal.model_copy(update={"details": told}).model_dump_json()
    assert len(said) < LONGEST_REFUSAL
    assert SECRET not in said, refusal
    assert str(DIGITS) not in said, refusal
    assert not any("\ud800" <= each <= "\udfff" or each in "\0\u202e" for each in said)
