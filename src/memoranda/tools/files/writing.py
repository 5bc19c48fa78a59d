"""What the tools of context files write: each a part of the transaction that also keeps the receipt."""

from collections.abc import Iterator
from contextlib import contextmanager

from memoranda.access.models import Principal, Role
from memoranda.files import permitted, writing
from memoranda.files.body import body_input, hash_input
from memoranda.files.errors import FileChanged
from memoranda.files.fence import fenced
from memoranda.files.models import AgentFile, ContextFile, Named, Place
from memoranda.files.proposals import deciding
from memoranda.storage import Transaction
from memoranda.tools.files.inputs import UpdateContextFile, UpdateNotes
from memoranda.tools.models import Course, Outcome, Written
from memoranda.words.errors import Refused


class Writing:
    """The writing half of the tools."""

    def update(
        self, tx: Transaction, who: Principal, asked: UpdateContextFile, _course: Course
    ) -> Written:
        """Write it: a person may, or a policy lets the agent."""
        place = _place(tx, who, asked.slug)
        permitted.require_granted(who, place)
        return _written(tx, who, place, asked)

    def propose(
        self, tx: Transaction, who: Principal, asked: UpdateContextFile, course: Course
    ) -> Written:
        """Put it before a person, as a change that is applied or discarded."""
        return _proposed(tx, who, _place(tx, who, asked.slug), asked, course)

    def note(self, tx: Transaction, who: Principal, asked: UpdateNotes, _course: Course) -> Written:
        """Write the agent's own notes."""
        place = _notes(tx, who)
        permitted.require_write(who, place)
        return _written(tx, who, place, asked)

    def propose_notes(
        self, tx: Transaction, who: Principal, asked: UpdateNotes, course: Course
    ) -> Written:
        """Put what the notes are to say before a person, where a policy wants that."""
        return _proposed(tx, who, _notes(tx, who), asked, course)


def _place(tx: Transaction, who: Principal, slug: str) -> Place:
    """The organization's file, or one of the agent's own."""
    own = who.role is Role.AGENT and slug in set(AgentFile)
    return permitted.place_of(tx, who, Named(slug, who.agent_id if own else None))


def _notes(tx: Transaction, who: Principal) -> Place:
    if who.role is not Role.AGENT:
        raise Refused("Only an agent has notes of its own. Write an agent's files as files.")
    return _place(tx, who, AgentFile.NOTES)


def _written(
    tx: Transaction, who: Principal, place: Place, asked: UpdateContextFile | UpdateNotes
) -> Written:
    body, expected = body_input(asked.body), hash_input("expected_hash", asked.expected_hash)
    with _told_as_data():
        file = writing.write(tx, who, place, body, expected)
    return Written(outcome=Outcome.DONE, message=_done(file), version=file.revision)


def _done(file: ContextFile) -> str:
    return f"{file.name} is written. Its hash is {file.hash}. Later runs are given it; this one is not."


def _proposed(
    tx: Transaction,
    who: Principal,
    place: Place,
    asked: UpdateContextFile | UpdateNotes,
    course: Course,
) -> Written:
    body, expected = body_input(asked.body), hash_input("expected_hash", asked.expected_hash)
    with _told_as_data():
        proposed = deciding.propose(
            tx,
            who,
            place,
            body,
            expected,
            run_id=course.run_id,
            conversation_id=course.conversation_id,
        )
    if proposed.known:
        outcome, message = Outcome.KNOWN, "This is proposed already, and waits for a person."
    else:
        outcome = Outcome.PROPOSED
        message = (
            "This is proposed: the file says it once a person applies it. Go on without waiting."
        )
    return Written(outcome=outcome, message=message, proposal_id=proposed.change.id)


@contextmanager
def _told_as_data() -> Iterator[None]:
    """Fence what a file says where a refusal tells it: a model reads that, too."""
    try:
        yield
    except FileChanged as changed:
        details = dict(changed.details)
        details["current_body"] = fenced(str(details["file"]), str(details["current_body"]))
        raise FileChanged(changed.message, **details) from None
