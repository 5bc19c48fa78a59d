"""What the memory tool writes: each a part of the transaction that also keeps the receipt."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from memoranda.access.models import Principal, Role
from memoranda.access.roles import organization_of
from memoranda.memories import permitted
from memoranda.memories.audience import audience_of
from memoranda.memories.candidate import (
    UNSET,
    Author,
    Candidate,
    candidate_input,
    check_future,
    edit_input,
)
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory, Origin, Proposal
from memoranda.memories.proposals import inbox
from memoranda.memories.proposals.inbox import DISCARDED_FOR
from memoranda.memories.ways import Ways
from memoranda.storage import Transaction
from memoranda.tools.memory.inputs import About, Forget, Patch, Remember, Update
from memoranda.tools.models import Course, Outcome, Written
from memoranda.words.errors import Invalid
from memoranda.words.ref import ResourceRef


class Writing:
    """The writing half of the memory tool, for given limits and models.

    `hint_about` says why no run is ever told of what is about a row, where that is so.
    """

    def __init__(
        self, ways: Ways, hint_about: Callable[[ResourceRef | None], str | None] = lambda _: None
    ) -> None:
        self._ways = ways
        self._hint_about = hint_about

    def remember(self, tx: Transaction, who: Principal, asked: Remember, course: Course) -> Written:
        """Keep it, for whomever the caller is bound to."""
        wanted = self._candidate(who, asked, course)
        if asked.title_once and wanted.title is not None:
            heads.check_title_is_free(tx, wanted.audience, wanted.title)
        memory = permitted.remember(tx, who, wanted, self._ways)
        return self._hinted(_done("It is remembered.", memory), asked)

    def propose(self, tx: Transaction, who: Principal, asked: Remember, course: Course) -> Written:
        """Put it before a person."""
        proposed = inbox.propose(tx, who, self._candidate(who, asked, course), self._ways)
        if proposed.memory is not None:
            return _done("This is remembered already.", proposed.memory, Outcome.KNOWN)
        if proposed.proposal is None:
            return Written(
                outcome=Outcome.DROPPED,
                message="Too many proposals wait for a person, so this one was not kept. Go on without it.",
            )
        if proposed.outcome == "discarded":
            return _turned_down(proposed.proposal)
        known = proposed.outcome == "known"
        written = Written(
            outcome=Outcome.KNOWN if known else Outcome.PROPOSED,
            message="This is proposed already, and waits for a person."
            if known
            else "This is proposed: it is remembered once a person accepts it. Go on without waiting.",
            proposal_id=proposed.proposal.id,
        )
        return self._hinted(written, asked)

    def update(self, tx: Transaction, who: Principal, asked: Update, course: Course) -> Written:
        """Change what the patch names."""
        edit = edit_input(self._ways.limits.text_chars, **_patched(asked.patch))
        if asked.patch.title_once and isinstance(edit.title, str):
            permitted.check_title_is_free(tx, who, asked.memory_id, edit.title)
        memory = permitted.update(
            tx,
            who,
            asked.memory_id,
            edit,
            author=author_of(who, course),
            ways=self._ways,
            expected_version=asked.expected_version,
            pinned=None,
            user_id=UNSET,
            agent_id=UNSET,
        )
        return _done("It is changed.", memory)

    def foresee_update(self, tx: Transaction, who: Principal, asked: Update) -> None:
        """Raise what keeps the change from being made, whoever allows it: a version only grows."""
        edit = edit_input(self._ways.limits.text_chars, **_patched(asked.patch))
        if edit.expires_at is not UNSET:
            check_future(tx.now, edit.expires_at)
        _hold(tx, who, asked)

    def foresee_forget(self, tx: Transaction, who: Principal, asked: Forget) -> None:
        """Likewise."""
        _hold(tx, who, asked)

    def forget(self, tx: Transaction, who: Principal, asked: Forget, course: Course) -> Written:
        """Forget it, so that a person may restore it."""
        memory = permitted.forget(
            tx,
            who,
            asked.memory_id,
            author=author_of(who, course),
            ways=self._ways,
            expected_version=asked.expected_version,
        )
        return _done("It is forgotten. A person can restore it for 30 days.", memory)

    def _hinted(self, written: Written, asked: Remember) -> Written:
        """The answer, and what the caller should know of the row that it named."""
        hint = self._hint_about(_about(asked.about))
        if hint is None:
            return written
        return written.model_copy(update={"message": f"{written.message} {hint}"})

    def _candidate(self, who: Principal, asked: Remember, course: Course) -> Candidate:
        return candidate_input(
            organization_of(who),
            audience_of(who),
            author_of(who, course),
            text=asked.content,
            text_chars=self._ways.limits.text_chars,
            title=asked.title,
            category=asked.category,
            tags=asked.tags,
            expires_at=asked.expires_at,
            attribute=asked.attribute,
            about=_about(asked.about),
            as_written=asked.as_written,
        )


def _turned_down(proposal: Proposal) -> Written:
    on = "" if proposal.decided_at is None else f" on {proposal.decided_at:%Y-%m-%d}"
    return Written(
        outcome=Outcome.DENIED,
        message=f"A person discarded this{on}. It is put before nobody again for "
        f"{DISCARDED_FOR.days} days after that: go on without it.",
        proposal_id=proposal.id,
    )


def author_of(who: Principal, course: Course) -> Author:
    """Who writes: the agent where it is an agent's credential, else the person."""
    return Author(
        origin=Origin.AGENT if who.role is Role.AGENT else Origin.USER,
        user_id=who.user_id,
        agent_id=who.agent_id,
        run_id=course.run_id,
        conversation_id=course.conversation_id,
    )


def _about(named: About | None) -> ResourceRef | None:
    try:
        return None if named is None else ResourceRef(kind=named.kind, id=named.id)
    except ValidationError:
        raise Invalid("about names no row: give its kind and its id.", field="about") from None


def _patched(patch: Patch) -> dict[str, Any]:
    """What the patch names, None too, which empties a field."""
    if not patch.model_fields_set - {"as_written", "title_once"}:
        raise Invalid("The patch names nothing: name at least one field.", field="patch")
    if "content" in patch.model_fields_set and patch.content is None:
        raise Invalid("The content can't be empty: use forget instead.", field="patch.content")
    named = {name: getattr(patch, name) for name in patch.model_fields_set - {"title_once"}}
    if "content" in named:
        named["text"] = named.pop("content")
    if "tags" in named and named["tags"] is None:
        named["tags"] = []
    return named


def _hold(tx: Transaction, who: Principal, asked: Update | Forget) -> None:
    permitted.hold(tx, who, asked.memory_id, expected_version=asked.expected_version)


def _done(message: str, memory: Memory, outcome: Outcome = Outcome.DONE) -> Written:
    return Written(outcome=outcome, message=message, memory_id=memory.id, version=memory.version)
