"""What context files promise, as a few lists: every state of every file, and the changes that wait."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memoranda.files.body import hash_of

WORKSPACE: Final = ("about-you", "organization", "people", "glossary", "voice", "roster")
AGENT: Final = ("SOUL.md", "NOTES.md", "agent.yml")
KEPT_FOR: Final = timedelta(days=30)
NEWEST: Final = 20
Answer = tuple[object, ...]
"""What a verb comes to: `done`, or the name of the error, and what else it tells."""


@dataclass
class State:
    """What a file was, from one time on."""

    body: str
    mode: str | None
    action: str
    since: datetime
    until: datetime | None = None


@dataclass
class File:
    """All that a file ever was; `gone` of its states are kept no longer."""

    states: list[State]
    gone: int = 0

    @property
    def now(self) -> State:
        return self.states[-1]


@dataclass
class Change:
    """A change that was proposed, and what became of it."""

    file: str
    base: str
    body: str
    status: str = "waiting"
    decided: datetime | None = None


@dataclass
class Model:
    """The files of one organization and of its one agent."""

    made: datetime
    files: dict[str, File] = field(default_factory=dict)
    changes: dict[UUID, Change] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*WORKSPACE, *AGENT):
            mode = None if name in AGENT else "on_demand"
            mode = "always" if name in {"about-you", "voice"} else mode
            self.files[name] = File([State("", mode, "created", self.made)])

    @property
    def always(self) -> list[str]:
        return [name for name in WORKSPACE if self.files[name].now.mode == "always"]

    def write(self, who: str, name: str, body: str, read: str, now: datetime) -> Answer:
        if who != "owner" and name != "NOTES.md":
            return ("Refused",)
        file = self.files[name]
        if read != hash_of(file.now.body):
            return ("FileChanged", file.now.body)
        return self._become(name, body, "written", now)

    def restore(self, name: str, number: int, now: datetime) -> Answer:
        file = self.files[name]
        if number > len(file.states):
            return ("NotFound",)
        if number <= file.gone:
            return ("RevisionGone",)
        return self._become(name, file.states[number - 1].body, "restored", now)

    def set_mode(self, name: str, mode: str, now: datetime) -> Answer:
        file = self.files[name]
        if file.now.mode == mode:
            return ("done", len(file.states))
        if mode == "always" and len(self.always) >= 3:
            return ("AlwaysLoadedFull", tuple(self.always))
        self._add(file, State(file.now.body, mode, "mode_changed", now))
        return ("done", len(file.states))

    def propose(self, name: str, body: str, read: str) -> Answer:
        current = self.files[name].now.body
        if read != hash_of(current):
            return ("FileChanged", current)
        return ("Invalid",) if body == current else ("proposed",)

    def waiting(self, name: str, body: str, read: str) -> UUID | None:
        for change_id, change in self.changes.items():
            same = (change.file, change.base, change.body) == (name, read, body)
            if same and change.status == "waiting":
                return change_id
        return None

    def apply(self, change_id: UUID, read: str | None, now: datetime) -> Answer:
        change = self.changes[change_id]
        if change.status != "waiting":
            return ("Conflict", change.status)
        current = self.files[change.file].now.body
        if (read or change.base) != hash_of(current):
            return ("FileChanged", current)
        change.status, change.decided = "applied", now
        return self._become(change.file, change.body, "applied", now)

    def discard(self, change_id: UUID, now: datetime) -> Answer:
        change = self.changes[change_id]
        if change.status != "waiting":
            return ("Conflict", change.status)
        change.status, change.decided = "discarded", now
        return ("done", "discarded")

    def prune(self, now: datetime) -> None:
        for file in self.files.values():
            last = len(file.states)
            for number, state in enumerate(file.states[:-1], 1):
                old = state.until is not None and state.until <= now - KEPT_FOR
                if old and number < last - NEWEST:
                    file.gone = max(file.gone, number)
        for change_id, change in list(self.changes.items()):
            if change.decided is not None and change.decided < now - KEPT_FOR:
                del self.changes[change_id]

    def history(self, name: str) -> list[Answer]:
        """Each state that is kept, the newest first."""
        file = self.files[name]
        kept = list(enumerate(file.states, 1))[file.gone :]
        return [
            (number, hash_of(each.body), each.mode, each.action, each.since, each.until)
            for number, each in kept[::-1]
        ]

    def as_of(self, name: str, moment: datetime) -> Answer:
        file = self.files[name]
        begun = [number for number, each in enumerate(file.states, 1) if each.since <= moment]
        if not begun:
            return ("NotFound",)
        if begun[-1] <= file.gone:
            return ("RevisionGone",)
        return ("done", file.states[begun[-1] - 1].body)

    def _become(self, name: str, body: str, action: str, now: datetime) -> Answer:
        file = self.files[name]
        if body != file.now.body:
            self._add(file, State(body, file.now.mode, action, now))
        return ("done", len(file.states))

    def _add(self, file: File, state: State) -> None:
        file.now.until = state.since
        file.states.append(state)
