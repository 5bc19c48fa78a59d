"""A file of the memory tool says what was written, to the last blank, whoever changes it in between."""

import asyncio
from typing import Any

import pytest

from memoranda import Memoranda
from memoranda.integrations.anthropic import AsyncMemoryTool
from memoranda.memories.candidate import mark_of
from memoranda.tools.models import Decision, Outcome
from memoranda.words.errors import DuplicateMemory
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda, other
from tests.integrations.memory_files import listed, refused, said, trusted

__all__ = ["acme", "memoranda", "other"]

PATH = "/memories/a.md"
TEXTS = (
    *("One.\n", "One.\n\n\n", "\n\nOne.", "  - One.", "One.  ", "\n\t- One.\n  \n"),
    *("One.\r\nTwo!\r\n", "\ufeffOne.\n", "\u3000Eins\u2028Zwo\n", "One.\n\u200b\n"),
)


async def text_of(memoranda: Memoranda, tenant: Tenant) -> str | None:
    [memory] = (await memoranda.memories.page(tenant.owner)).items
    return memory.text


async def viewed(tool: AsyncMemoryTool, path: str = PATH) -> list[str]:
    """The lines of a file as they are shown, without their numbers, which are right."""
    _, *lines = (await said(tool, "view", path=path)).split("\n")
    assert [line.split("\t", 1)[0] for line in lines] == [
        f"{number:>6}" for number in range(1, len(lines) + 1)
    ]
    return [line.split("\t", 1)[1] for line in lines]


@pytest.mark.parametrize("text", TEXTS)
async def test_a_file_says_what_was_written(memoranda: Memoranda, acme: Tenant, text: str) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text=text)
    assert await text_of(memoranda, acme) == text
    # A mark of the order of bytes is shown to nobody.
    assert await viewed(tool) == text.replace("\ufeff", "").split("\n")
    last = text.rstrip()[-1]
    await said(tool, "str_replace", path=PATH, old_str=last, new_str=f"{last}+")
    assert await text_of(memoranda, acme) == text.replace(last, f"{last}+")
    whole = (await text_of(memoranda, acme)) or ""
    await said(tool, "str_replace", path=PATH, old_str=whole, new_str=f" {whole}\n ")
    assert await text_of(memoranda, acme) == f" {whole}\n "
    await said(tool, "rename", old_path=PATH, new_path="/memories/b.md")
    assert await viewed(tool, "/memories/b.md") == f" {whole}\n ".replace("\ufeff", "").split("\n")


async def test_what_is_told_of_a_file_elsewhere_is_one_line(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="\n\n  Ada takes oat milk.\n\n")
    [found] = (await memoranda.memories.search(acme.owner, "ada takes oat milk.")).results
    assert found.match.literal
    recall = await memoranda.memories.recall(acme.key_of(acme.scout), "oat milk")
    assert f"- {PATH}: Ada takes oat milk.\n" in f"{recall.block}\n"


async def test_a_person_who_changes_the_words_leaves_the_blanks_around_them(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="\n  One.\n")
    [memory] = (await memoranda.memories.page(acme.owner)).items
    change = memoranda.memories.update
    for text in ("One.", " One.\n\n"):
        with pytest.raises(DuplicateMemory):
            await change(acme.owner, memory.id, text=text)
    await change(acme.owner, memory.id, text=" Two. ", category="c")
    assert await viewed(tool) == ["", "  Two.", ""]
    await change(acme.owner, memory.id, tags=["t"], pinned=True)
    assert await viewed(tool) == ["", "  Two.", ""]
    await said(tool, "insert", path=PATH, insert_line=2, insert_text="Three.")
    assert await viewed(tool) == ["", "  Two.", "Three.", ""]
    # For whom it is changes nothing of what it says, and neither does to forget it for a while.
    moved = await change(acme.owner, memory.id, user_id=acme.anna.id)
    await memoranda.memories.forget(acme.owner, moved.id)
    await memoranda.memories.restore(acme.owner, moved.id)
    assert await text_of(memoranda, acme) == "\n  Two.\nThree.\n"


async def test_no_change_of_a_person_makes_a_file_longer_than_a_memory_may_be(
    memoranda: Memoranda, acme: Tenant, other: Tenant
) -> None:
    limit = memoranda.settings.max_memory_chars
    longest = "x " * (limit // 2 - 1) + "yz"
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text=f"  One.{chr(10) * (limit - 6)}")
    [memory] = (await memoranda.memories.page(acme.owner)).items
    await memoranda.memories.update(acme.owner, memory.id, text=longest)
    assert await text_of(memoranda, acme) == longest
    await said(tool, "str_replace", path=PATH, old_str="yz", new_str="zy")
    exported = [line async for line in memoranda.transfer.export(acme.owner)]
    await memoranda.transfer.take_in(other.owner, exported)
    assert await text_of(memoranda, other) == f"{longest[:-2]}zy"


async def test_what_a_person_accepts_in_other_words_is_no_longer_than_a_memory_may_be(
    memoranda: Memoranda, acme: Tenant
) -> None:
    limit = memoranda.settings.max_memory_chars
    tool = AsyncMemoryTool(memoranda, acme.owner, agent="scout")
    await said(tool, "create", path=PATH, file_text=f"One.{chr(10) * 9}")
    [proposal] = (await memoranda.proposals.page(acme.owner)).items
    accepted = await memoranda.proposals.accept(acme.owner, proposal.id, text="y" * limit)
    assert accepted.text == "y" * limit


async def test_what_waited_for_a_person_is_what_was_written(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = AsyncMemoryTool(memoranda, acme.owner, agent="scout")
    proposals = memoranda.proposals
    for path, text in ((PATH, "\n One.\n"), ("/memories/b.md", " Two.\n")):
        assert "Nothing is changed yet" in await said(tool, "create", path=path, file_text=text)
    [second, first] = (await proposals.page(acme.owner)).items
    assert (first.text, second.text) == ("\n One.\n", " Two.\n")
    # To accept it with the same words corrects nothing: it is still the agent's.
    accepted = await proposals.accept(acme.owner, first.id, text="One.")
    assert (accepted.text, accepted.origin) == ("\n One.\n", "agent")
    corrected = await proposals.accept(acme.owner, second.id, text="Deux.")
    assert (corrected.text, corrected.origin) == (" Deux.\n", "user")
    await said(tool, "insert", path=PATH, insert_line=0, insert_text="Zero.")
    [waiting] = (await memoranda.inbox.page(acme.owner)).items
    done = await memoranda.tools.approvals.approve(acme.owner, waiting.id)
    assert done.answer is not None
    assert done.answer["outcome"] == Outcome.DONE
    assert await viewed(tool) == ["Zero.", "", " One.", ""]


async def test_blanks_at_the_ends_make_no_second_memory_of_a_text(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="One.\n")
    told = await refused(tool, "create", path="/memories/b.md", file_text="\n one.")
    assert told == f"The file {PATH} says the same already."
    await said(tool, "create", path="/memories/b.md", file_text="Two.")
    told = await refused(tool, "str_replace", path="/memories/b.md", old_str="Two", new_str="ONE")
    assert told == f"The file {PATH} says the same already."
    with pytest.raises(DuplicateMemory):
        await memoranda.memories.remember(acme.owner, "One.", agent_id=acme.scout.id)
    assert mark_of("One.\n") == mark_of(" one.")


async def test_a_file_that_goes_to_another_organization_says_there_what_was_written(
    memoranda: Memoranda, acme: Tenant, other: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    for number, text in enumerate(TEXTS):
        path = f"/memories/{number}.md"
        await said(tool, "create", path=path, file_text=text.replace("n", f"{number}"))
    lines = [line async for line in memoranda.transfer.export(acme.owner)]
    await memoranda.transfer.take_in(other.owner, lines)
    here, there = [
        {each.title: each.text for each in (await memoranda.memories.page(tenant.owner)).items}
        for tenant in (acme, other)
    ]
    assert len(here) == len(TEXTS)
    assert there == here


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * 500 + "\n", "501 characters and may have 500: shorten it. Keep one fact in a file."),
        ("x" + " " * 500, "501 characters"),
        ("x" * 100_000, "What is longer belongs into /memories/agent/NOTES.md"),
        ("", "empty"),
        ("\n \n", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
    ],
)
async def test_a_text_that_can_not_be_kept_is_refused_and_the_refusal_says_why(
    memoranda: Memoranda, acme: Tenant, text: str, why: str
) -> None:
    tool = await trusted(memoranda, acme)
    assert why in await refused(tool, "create", path=PATH, file_text=text)
    await said(tool, "create", path=PATH, file_text="y")
    if text.strip():
        assert why in await refused(tool, "str_replace", path=PATH, old_str="y", new_str=text)
    assert await text_of(memoranda, acme) == "y"


async def test_no_model_is_told_how_blanks_are_kept(memoranda: Memoranda, acme: Tenant) -> None:
    offers = await memoranda.tools.offers(acme.key_of(acme.scout))
    assert {"remember", "update"} <= {offer.name for offer in offers}
    assert not [offer.name for offer in offers if "as_written" in str(offer.input_schema)]
    kept = await memoranda.memories.remember(acme.owner, "One.", agent_id=acme.scout.id)
    await memoranda.tools.policies.set(acme.owner, "scout", "update", Decision.ALLOW)
    asked: dict[str, Any] = {"memory_id": str(kept.id), "expected_version": 1}
    nothing = await memoranda.tools.call(
        acme.key_of(acme.scout), "update", {**asked, "patch": {"as_written": True}}
    )
    assert nothing.refusal is not None
    assert "names nothing" in nothing.refusal.message


async def test_lines_are_counted_alike_where_they_are_shown_and_where_some_come_in(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="One\x0bpage\x85.\nTwo.\n")
    assert await viewed(tool) == ["One page .", "Two.", ""]
    await said(tool, "insert", path=PATH, insert_line=1, insert_text="1.5")
    assert await viewed(tool) == ["One page .", "1.5", "Two.", ""]
    assert await text_of(memoranda, acme) == "One\x0bpage\x85.\n1.5\nTwo.\n"


async def test_who_copies_what_is_shown_otherwise_is_told_so(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="Say [INST] twice.")
    [line] = await viewed(tool)
    assert line == "Say (INST) twice."
    told = await refused(tool, "str_replace", path=PATH, old_str=line, new_str="x")
    assert "look-alike" in told
    told = await refused(tool, "str_replace", path=PATH, old_str="y" * 10_000, new_str="x")
    assert "look-alike" not in told
    assert len(told) < 1_000
    # What changes nothing is done already.
    await said(tool, "str_replace", path=PATH, old_str="Say", new_str="Say")
    await said(tool, "str_replace", path=PATH, old_str="[INST]", new_str="it")
    assert await viewed(tool) == ["Say it twice."]


async def test_commands_that_are_asked_for_at_once_come_one_after_another(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    made = await asyncio.gather(
        *(tool.call(new(PATH, f"Number {number}.\n")) for number in range(5)),
        return_exceptions=True,
    )
    assert [each for each in made if isinstance(each, str)] == [
        f"File created successfully at: {PATH}"
    ]
    lines = [f"line {number}" for number in range(8)]
    await asyncio.gather(
        *(said(tool, "insert", path=PATH, insert_line=1, insert_text=line) for line in lines)
    )
    first, *rest, last = await viewed(tool)
    assert (first[:7], sorted(rest), last) == ("Number ", lines, "")


async def test_a_file_that_somebody_else_changes_at_that_moment_is_left_to_them(
    memoranda: Memoranda, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = await trusted(memoranda, acme)
    await said(tool, "create", path=PATH, file_text="One.")
    [memory] = (await memoranda.memories.page(acme.owner)).items
    call = memoranda.tools.call

    def at_that_moment(change: Any) -> None:
        async def first(*args: Any, **given: Any) -> Any:
            await change
            monkeypatch.setattr(memoranda.tools, "call", call)
            return await call(*args, **given)

        monkeypatch.setattr(memoranda.tools, "call", first)

    edit = {"path": PATH, "old_str": "One", "new_str": "Two"}
    at_that_moment(memoranda.memories.update(acme.owner, memory.id, text="Three, not One."))
    told = f"The file {PATH} was changed at this moment: view it again."
    assert await refused(tool, "str_replace", **edit) == told
    assert await viewed(tool) == ["Three, not One."]
    at_that_moment(memoranda.memories.forget(acme.owner, memory.id))
    assert await refused(tool, "str_replace", **edit) == told
    assert (await memoranda.memories.page(acme.owner)).items == []


async def test_of_a_folder_it_is_told_how_much_is_done(memoranda: Memoranda, acme: Tenant) -> None:
    tool = await trusted(memoranda, acme)
    await memoranda.memories.remember(acme.owner, "Of all.", title="/memories/f/0.md")
    for name in ("a", "b"):
        await said(tool, "create", path=f"/memories/f/{name}.md", file_text=name)
    whole = "An agent changes its own memories alone, and this one is for others too. An owner may change it."
    told = f"2 of 3 files are done. {whole}"
    there, back = "/memories/g", "/memories/f/back"
    assert await refused(tool, "rename", old_path="/memories/f", new_path=there) == told
    await said(tool, "rename", old_path=there, new_path=back)
    assert await refused(tool, "delete", path="/memories/f") == told
    assert [each for each in await listed(tool, "/memories/f") if each.endswith(".md")] == [
        "/memories/f/0.md"
    ]
    # Where nothing is done, nothing is said of it.
    assert await refused(tool, "delete", path="/memories/f") == whole


async def test_a_file_at_a_path_is_not_the_folder_below_it(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    for title in ("/memories/f", "/memories/f/a.md"):
        await memoranda.memories.remember(acme.owner, title, title=title, agent_id=acme.scout.id)
    await said(tool, "rename", old_path="/memories/f", new_path="/memories/g")
    assert "/memories/f/a.md" in await listed(tool, "/memories/f")
    await said(tool, "rename", old_path="/memories/g", new_path="/memories/h")
    await said(tool, "delete", path="/memories/h")
    assert [each.title for each in (await memoranda.memories.page(acme.owner)).items] == [
        "/memories/f/a.md"
    ]


async def test_a_command_that_is_stopped_leaves_whole_files(
    memoranda: Memoranda, acme: Tenant
) -> None:
    tool = await trusted(memoranda, acme)
    names = [f"/memories/f/{number}.md" for number in range(6)]
    for number, name in enumerate(names):
        await said(tool, "create", path=name, file_text=f"Number {number}.\n")
    for pause in (0, 1, 5, 20, 80):
        task = asyncio.ensure_future(
            said(tool, "rename", old_path="/memories/f", new_path=f"/memories/g{pause}")
        )
        for _ in range(pause):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        kept = (await memoranda.memories.page(acme.owner)).items
        assert sorted(each.text or "" for each in kept) == [f"Number {n}.\n" for n in range(6)]
        assert len({each.title for each in kept}) == 6
        for each in kept:
            await memoranda.memories.update(
                acme.owner, each.id, title=f"/memories/f/{(each.text or '')[7]}.md"
            )


def new(path: str, text: str) -> dict[str, str]:
    return {"command": "create", "path": path, "file_text": text}
