"""Scripts see, export and forget what frameworks keep, by the client's own names."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda import sync
from memoranda.app import Memoranda as Opened
from memoranda.client import Client
from memoranda.words.errors import NotFound
from tests.contract.kept_house import Keeping

ROOMS = ("graphs", "kept")


async def keep(at: Opened) -> None:
    await Keeping(at, at.owner, "word", at.owner.user_id).everything()


def test_a_script_sees_all_of_it_and_forgets_it(tmp_path: Path) -> None:
    with sync.Memoranda(str(tmp_path / "notes.db")) as memoranda:
        memoranda.lend(keep)
        graphs, kept = memoranda.graphs, memoranda.kept
        [thread] = graphs.threads().items
        whose = {"user_id": thread.user_id}
        [step] = graphs.checkpoints(thread.thread_id, **whose).items
        shown = graphs.checkpoint(
            thread.thread_id,
            namespace=step.namespace,
            checkpoint_id=step.checkpoint_id,
            **whose,
        )
        assert shown.next_after is None
        [namespace] = graphs.namespaces().items
        [item] = graphs.items(namespace=".".join(namespace.namespace)).items
        assert graphs.item(item.id).value == {"said": "word says"}
        [history] = kept.histories().items
        assert len(kept.entries(history.id).items) == 3
        assert kept.history(history.id).name == "word-talk"
        [session] = kept.sessions().items
        assert kept.session(session.id).state == {"said": "word says"}
        assert len(kept.events(session.id).items) == 1
        [branch] = kept.branches().items
        assert len(list(kept.export())) == 1 + 1 + 1 + 4 + 1 + 3 + 1 + 1 + 2 + 1 + 2 + 1
        done = [
            graphs.purge_items(item.namespace[0], **whose),
            graphs.purge_thread(thread.thread_id, **whose),
            kept.purge_history(history.id),
            kept.purge_session(session.id),
            *(
                kept.purge_state(each.application, person=each.person)
                for each in kept.states().items
            ),
            kept.purge_branch(branch.workflow_id, branch.name),
        ]
        assert all(each.rows and each.scrubbed for each in done)
        assert set(dict(kept.counts()).values()) == {0}
        with pytest.raises(NotFound):
            graphs.purge_item(item.id)


def arguments(verb: Callable[..., Any]) -> tuple[list[str], set[str], set[str]]:
    """Those that have to be given, in their order; by name alone; and those that may be left out."""
    parameters = inspect.signature(verb).parameters.values()
    needed = [each for each in parameters if each.default is each.empty]
    by_name = {each.name for each in needed if each.kind is each.KEYWORD_ONLY}
    placed = [each.name for each in needed if each.name not in by_name]
    return placed, by_name, {each.name for each in parameters if each not in needed}


@pytest.mark.parametrize("room", ROOMS)
def test_a_verb_is_the_same_for_a_script_and_for_a_client(room: str) -> None:
    script = getattr(sync.Memoranda("never-opened.db"), room)
    names = [name for name, _ in inspect.getmembers(script, inspect.ismethod) if name[0] != "_"]
    assert len(names) >= 9
    with Client("http://never.test") as client:
        there = getattr(client, room)
        for name in names:
            assert arguments(getattr(there, name)) == arguments(getattr(script, name)), name
        assert set(names) == {name for name in vars(type(there)) if name[0] != "_"}
