"""A scripted agent without a model: a process of its own, with a ledger of what it was answered.

Run again with the same ledger, it tries everything again of which it never got an answer, under the
same keys, and goes on from there.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid5

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import REQUEST_TIMEOUT

from tests.surfaces.mcp.clients import IDEMPOTENCY_KEY, over_http, over_pipes

SEED: Final = 20_261_130
AT_ONCE: Final = 4
TRIES: Final = 30
TWINS: Final = ("desk", "office")
"""Two clients of one caller: every so often both make the very same call, under the same key."""
TWIN_STEPS: Final = 25
CONVERSATION_ID: Final = "memoranda/conversation-id"
WRITES: Final = frozenset({"remember", "update", "forget"})
SHARES: Final = {
    "remember": 33,
    "update": 25,
    "forget": 10,
    "get": 8,
    "list": 6,
    "recall": 4,
    "search_knowledge": 2,
    "search_conversations": 1,
    "build_brief": 2,
    "again": 6,
    "wrong": 2,
    "reuse": 1,
}
"""How often each step comes, in percent."""
WORDS: Final = ("oolong", "harbour", "ledger", "lantern", "willow", "copper", "orchard", "violin")
WRONG: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("remember", {}),
    ("remember", {"content": 7}),
    ("remember", {"content": "Tea.", "user_id": "00000000-0000-7000-8000-000000000000"}),
    ("update", {"memory_id": "no id", "expected_version": 1, "patch": {"content": "Tea."}}),
    ("forget", {"memory_id": "00000000-0000-7000-8000-000000000000", "expected_version": 0}),
    ("list", {"limit": 0}),
    ("recall", {"query": ["tea"]}),
    ("remembr", {"content": "Tea."}),
)


@dataclass(frozen=True)
class Job:
    """Who works, how it reaches the server, and how much it has to do."""

    name: str
    way: str
    where: str
    key: str
    mode: str
    ledger: str
    steps: int


@dataclass(frozen=True)
class Request:
    """What is wanted once. `call` goes along as its conversation, so that everything it leaves is known by it."""

    call: str
    key: str | None
    tool: str
    arguments: dict[str, Any]

    @property
    def meta(self) -> dict[str, Any]:
        """What is said beside the arguments; a brief would look for the conversation."""
        told = {} if self.tool == "build_brief" else {CONVERSATION_ID: self.call}
        return told if self.key is None else {**told, IDEMPOTENCY_KEY: self.key}


@dataclass
class Delivery:
    """One time that a request was sent, and what was answered, if anything was; the places are lines of the ledger."""

    client: str
    number: int
    step: int
    request: Request
    sent_at: int
    answered_at: int | None = None
    said: dict[str, Any] = field(default_factory=dict)
    refused: bool = False
    replayed: bool = False
    given_up: bool = False

    @property
    def heard(self) -> bool:
        return self.answered_at is not None

    @property
    def done(self) -> bool:
        return self.heard and not self.refused

    @property
    def final(self) -> bool:
        """Whether there is nothing more to try."""
        return self.heard and not (self.refused and self.said["retryable"])


class Ledger:
    """A file with a line before each delivery and one after each answer; nothing of it is lost with its writer."""

    def __init__(self, path: Path, client: str) -> None:
        self._client = client
        self._lines = 0
        self.deliveries: dict[int, Delivery] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            self._take(json.loads(line))
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def close(self) -> None:
        os.close(self._file)

    def sent(self, step: int, request: Request) -> Delivery:
        number = len(self.deliveries)
        self._write({"sent": number, "step": step, "request": asdict(request)})
        return self.deliveries[number]

    def answered(self, delivery: Delivery, **told: Any) -> None:
        self._write({"answered": delivery.number, "told": told})

    def gave_up(self, delivery: Delivery) -> None:
        self._write({"gave_up": delivery.number})

    def _write(self, entry: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(entry).encode() + b"\n")
        self._take(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        match entry:
            case {"sent": number, "step": step, "request": request}:
                self.deliveries[number] = Delivery(
                    self._client, number, step, Request(**request), self._lines
                )
            case {"answered": number, "told": told}:
                delivery = self.deliveries[number]
                delivery.answered_at = self._lines
                vars(delivery).update(told)
            case {"gave_up": number}:
                self.deliveries[number].given_up = True
        self._lines += 1


def read_ledger(path: Path, client: str) -> list[Delivery]:
    """All that a client sent, in that order."""
    ledger = Ledger(path, client)
    ledger.close()
    return list(ledger.deliveries.values())


class Script:
    """What a client does at each step; chance is seeded, and the rest comes of what it was answered."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._versions: dict[str, int] = {}
        self._done: list[Request] = []

    def learn(self, delivery: Delivery) -> None:
        """Go on with what was answered."""
        said, request = delivery.said, delivery.request
        if delivery.done and request.tool in WRITES:
            self._done.append(request)
            if request.tool == "forget":
                self._versions.pop(said["memory_id"], None)
            else:
                self._versions[said["memory_id"]] = said["version"]
        elif delivery.done and request.tool in {"list", "get"} and self._name in TWINS:
            self._versions.update({each[0]: each[1] for each in said["memories"]})
        elif delivery.refused and request.tool in {"update", "forget"}:
            self._refused(said, str(request.arguments["memory_id"]))

    def _refused(self, said: dict[str, Any], memory_id: str) -> None:
        if said["code"] == "stale_version":
            self._versions[memory_id] = said["details"]["version"]
        elif said["code"] in {"not_found", "conflict", "gone"}:
            self._versions.pop(memory_id, None)

    def request(self, step: int) -> Request:
        """What this step asks for."""
        dice = dice_of(self._name, step)
        if self._name in TWINS and step % TWIN_STEPS == 0:
            return _new(f"twin-{step}", "remember", content=f"Both desks noted item {step}.")
        kind = dice.choices(list(SHARES), list(SHARES.values()))[0]
        if kind in {"again", "reuse"} and self._done:
            return self._old(dice, step, changed=kind == "reuse")
        if kind in {"update", "forget", "get"} and self._versions:
            return self._about(dice, step, kind)
        if kind == "wrong":
            tool, arguments = dice.choice(WRONG)
            return _new(f"{self._name}-{step}", tool, **arguments)
        if kind in READS:
            return _new(f"{self._name}-{step}", kind, **READS[kind](dice))
        return _new(f"{self._name}-{step}", "remember", **self._fact(dice, step))

    def _old(self, dice: random.Random, step: int, *, changed: bool) -> Request:
        old = dice.choice(self._done)
        if not changed:
            return old
        # Another call under a key that is used.
        return Request(_call(f"{self._name}-{step}"), old.key, "remember", {"content": "Another."})

    def _about(self, dice: random.Random, step: int, kind: str) -> Request:
        memory_id = dice.choice(list(self._versions))
        version, key = self._versions[memory_id], f"{self._name}-{step}"
        if kind == "get":
            return _new(key, kind, memory_id=memory_id)
        stale = dice.random() < 0.1
        at = {"memory_id": memory_id, "expected_version": max(1, version - stale)}
        if kind == "forget":
            return _new(key, kind, **at)
        text = f"{self._name} changed it at step {step}: {dice.choice(WORDS)}."
        return _new(key, kind, **at, patch={"content": text})

    def _fact(self, dice: random.Random, step: int) -> dict[str, Any]:
        word, chance = dice.choice(WORDS), dice.random()
        if chance < 0.2:
            return {"content": f"The {word} is number {dice.randrange(20)}."}
        fact = {"content": f"{self._name} saw the {word} at step {step}."}
        if chance < 0.3:
            fact["attribute"] = f"preference.{word}"
        return fact


READS: Final[dict[str, Callable[[random.Random], dict[str, Any]]]] = {
    "list": lambda dice: {"limit": dice.randint(1, 10)},
    "recall": lambda dice: {"query": f"Where is the {dice.choice(WORDS)}?", "limit": 5},
    "search_knowledge": lambda dice: {"query": dice.choice(WORDS)},
    "search_conversations": lambda dice: {"query": dice.choice(WORDS)},
    "build_brief": lambda dice: {"query": f"Tidy the {dice.choice(WORDS)}.", "budget": 500},
}


def dice_of(*names: object) -> random.Random:
    """Chance that is the same for the same names."""
    return random.Random("/".join(map(str, (SEED, *names))))


def _new(name: str, tool: str, **arguments: Any) -> Request:
    return Request(_call(name), name if tool in WRITES else None, tool, arguments)


def _call(name: str) -> str:
    return str(uuid5(UUID(int=SEED), name))


class Worker:
    """Carries the script out."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._script = Script(job.name)
        self._ledger = Ledger(Path(job.ledger), job.name)
        for delivery in self._ledger.deliveries.values():
            self._script.learn(delivery)

    async def work(self) -> None:
        """Try again what was not answered, then do the rest, a few steps at once."""
        before = list(self._ledger.deliveries.values())
        begun = {each.step: each.request for each in before}
        ended = {each.step for each in before if each.final}
        todo = [step for step in range(self._job.steps) if step not in ended]
        async with _connected(self._job) as client:
            for start in range(0, len(todo), AT_ONCE):
                wanted = {
                    step: begun.get(step) or self._script.request(step)
                    for step in todo[start : start + AT_ONCE]
                }
                async with asyncio.TaskGroup() as group:
                    for step, request in wanted.items():
                        group.create_task(self._carry_out(client, step, request))

    async def _carry_out(self, client: Client, step: int, request: Request) -> None:
        """Deliver it, perhaps more than once at the same moment, until there is an answer."""
        dice = dice_of(self._job.name, step, "chance")
        keyed = request.key is not None
        copies = dice.choice((2, 3)) if keyed and dice.random() < 0.05 else 1
        patience = dice.random() * 0.04 if keyed and dice.random() < 0.06 else None
        tries = [self._deliver(client, step, request, patience) for _ in range(copies)]
        ended = any(await asyncio.gather(*tries))
        for again in range(TRIES):
            if ended:
                return
            await asyncio.sleep(0.01 * again)
            ended = await self._deliver(client, step, request, None)
        raise AssertionError(f"step {step} was never answered")

    async def _deliver(
        self, client: Client, step: int, request: Request, patience: float | None
    ) -> bool:
        delivery = self._ledger.sent(step, request)
        try:
            result = await client.call_tool(
                request.tool, request.arguments, patience, meta=request.meta
            )
        except MCPError as error:
            if patience is None or error.code != REQUEST_TIMEOUT:
                raise
            self._ledger.gave_up(delivery)
            return False
        said = dict(result.structured_content or {})
        self._ledger.answered(
            delivery,
            refused=bool(result.is_error),
            replayed=result.meta is not None and "memoranda/replayed" in result.meta,
            said=said if result.is_error or request.tool in WRITES else _seen(request.tool, said),
        )
        self._script.learn(delivery)
        return delivery.final


def _seen(tool: str, said: dict[str, Any]) -> dict[str, Any]:
    """Of what was read, which memories in which version, and what they said."""
    found = [said] if tool == "get" else said.get("memories", [])
    return {"memories": [[each["id"], each["version"], each["content"]] for each in found]}


def _connected(job: Job) -> AbstractAsyncContextManager[Client]:
    if job.way == "pipes":
        return over_pipes(job.where, mode=job.mode, MEMORANDA_KEY=job.key)
    return over_http(job.where, job.key, mode=job.mode)


if __name__ == "__main__":
    asyncio.run(Worker(Job(**json.loads(sys.stdin.read()))).work())
