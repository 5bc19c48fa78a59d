"""The transactions of calls: all that a call changes, and what is to be known of it, or nothing."""

from typing import NamedTuple

from memoranda.storage import Transaction
from memoranda.tools.approvals.asking import standing, wait
from memoranda.tools.arguments import canonical
from memoranda.tools.attempt import Attempt
from memoranda.tools.counts import store as counts
from memoranda.tools.errors import ToolDenied
from memoranda.tools.journal import store as journal
from memoranda.tools.journal.line import Ending, Line
from memoranda.tools.models import Call, Decision, Outcome, Written
from memoranda.tools.policies.store import decision
from memoranda.tools.receipts import store as receipts


class Limits(NamedTuple):
    """How often a run may call a tool (0: as often as it likes), and how many calls may wait for a person."""

    calls_per_run: int
    approvals: int


class Made(NamedTuple):
    """What came of a call that was to change something, and the journal's word for it."""

    written: Written
    ending: Ending


def change(tx: Transaction, attempt: Attempt, call: Call, limits: Limits) -> Made:
    """Do what the call asks for, or put it before a person; or answer what it was answered before.

    All of it is in this one transaction: the receipt, the count, what the tool does, the journal.
    """
    caller = receipts.caller_of(call.who)
    asked = canonical(call.tool, call.arguments, call.course)
    if call.key is not None:
        before = receipts.claim(tx, caller, call.key, call.tool.name, asked)
        if before is not None:
            return _kept(tx, attempt, Made(standing(tx, before), Ending.REPLAYED))
    decided = permit(tx, call, caller, limits)
    made = _carry_out(tx, call, decided, caller, limits)
    if call.key is not None:
        about = call.tool.about(call.arguments)
        receipts.settle(tx, caller, call.key, asked, made.written, about=about)
    return _kept(tx, attempt, made)


def permit(tx: Transaction, call: Call, caller: str, limits: Limits) -> Decision:
    """What the policy says, once the call is counted. Raises `ToolDenied` and `TooManyToolCalls`."""
    decided = decision(tx, call.who, call.tool)
    if call.course.run_id is not None and limits.calls_per_run:
        calls = counts.add(tx, call.course.run_id, caller, call.tool.name)
        counts.check(calls, limits.calls_per_run)
    if decided is Decision.DENY:
        raise ToolDenied(
            f"A policy says that this agent may not call {call.tool.name}. Go on without it."
        )
    return decided


def note_refusal(tx: Transaction, attempt: Attempt, line: Line) -> None:
    """Note a call of which nothing was kept, and count it for its run all the same."""
    if attempt.course.run_id is not None and attempt.tool is not None:
        caller = receipts.caller_of(attempt.who)
        counts.add(tx, attempt.course.run_id, caller, attempt.tool.name)
    journal.add(tx, line)


def _carry_out(tx: Transaction, call: Call, decided: Decision, caller: str, limits: Limits) -> Made:
    tool = call.tool
    if decided is Decision.ALLOW:
        if tool.write is None:
            raise AssertionError("a tool that writes is called here, and no other")
        return Made(tool.write(tx, call.who, call.arguments, call.course), Ending.DONE)
    if tool.ask is not None:
        written = tool.ask(tx, call.who, call.arguments, call.course)
        # Of what waits already, or was refused before, nobody is asked again.
        again = written.outcome in {Outcome.KNOWN, Outcome.DENIED}
        return Made(written, Ending.REPLAYED if again else Ending.ASKED)
    put = wait(tx, call, caller=caller, most=limits.approvals)
    return Made(put.written, Ending.REPLAYED if put.again else Ending.ASKED)


def _kept(tx: Transaction, attempt: Attempt, made: Made) -> Made:
    journal.add(tx, attempt.line(made.ending).of(made.written))
    return made
