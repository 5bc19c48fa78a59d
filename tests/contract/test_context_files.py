"""Context files: which there are, who reads and writes them, and that nothing is written over unseen."""

import asyncio
import logging

import pytest

from memoranda.access.models import Principal, Role, Space
from memoranda.files.body import hash_of
from memoranda.files.errors import (
    AlwaysLoadedFull,
    FileChanged,
    FileTooLarge,
    NotYourFile,
    UnknownFile,
)
from memoranda.files.models import Action, Author, AuthorKind, ContextFile, LoadMode
from memoranda.files.service import Files
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, ReadOnly, Refused, SecretFound
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.file_house import AGENT, EMPTY, WORKSPACE, activities, events, kinds, written
from tests.contract.tenants import Tenant, new_tenant

ALWAYS, ON_DEMAND = LoadMode.ALWAYS, LoadMode.ON_DEMAND
SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8cF0hJ5kL7"


@pytest.fixture
def files(storage: Storage) -> Files:
    return Files(storage)


def subject(acme: Tenant, agent: bool = False) -> ContextSubject:
    return ContextSubject(
        organization_id=acme.owner.organization_id, agent_id=acme.scout.id if agent else None
    )


# --- which files there are ----------------------------------------------------------------------


async def test_an_organization_has_six_files_which_are_empty_at_first(
    files: Files, acme: Tenant
) -> None:
    listed = await files.listed(acme.reader)
    assert [file.name for file in listed.items] == WORKSPACE
    assert {(file.hash, file.bytes, file.revision) for file in listed.items} == {(EMPTY, 0, 1)}
    assert {file.author for file in listed.items} == {Author(kind=AuthorKind.SYSTEM)}
    assert {file.action for file in listed.items} == {Action.CREATED}
    assert listed.always_loaded == ["about-you", "voice"]
    assert listed.most_always_loaded == 3
    assert (await files.get(acme.reader, "people")).body == ""


async def test_an_agent_has_six_files_without_a_load_mode(files: Files, acme: Tenant) -> None:
    listed = await files.listed(acme.owner, agent="scout")
    assert [file.name for file in listed.items] == AGENT
    assert {file.load_mode for file in listed.items} == {None}
    assert {file.agent_id for file in listed.items} == {acme.scout.id}
    assert listed.always_loaded == []
    assert (await files.get(acme.owner, "SOUL.md", agent=acme.scout.id)).body == ""


async def test_files_that_many_look_at_first_are_made_once(files: Files, acme: Tenant) -> None:
    asked = [files.get(acme.owner, name) for name in WORKSPACE * 3]
    asked += [files.get(acme.owner, name, agent="scout") for name in AGENT * 3]
    found = await asyncio.gather(*asked)
    assert len({file.id for file in found}) == 12
    assert {file.revision for file in found} == {1}


@pytest.mark.parametrize("name", ["", "Voice", "voice ", "SOUL.md", "secrets", "../voice", "x\0"])
async def test_another_name_is_no_file(files: Files, acme: Tenant, name: str) -> None:
    for asked in (
        files.get(acme.owner, name),
        files.history(acme.owner, name),
        files.write(acme.owner, name, "x", EMPTY),
        files.set_load_mode(acme.owner, name, ALWAYS),
    ):
        with pytest.raises(UnknownFile) as refused:
            await asked
        assert refused.value.details == {"files": WORKSPACE}


@pytest.mark.parametrize("name", ["voice", "notes.md", "agent.yaml", "CLAUDE.md"])
async def test_another_name_is_no_file_of_an_agent(files: Files, acme: Tenant, name: str) -> None:
    with pytest.raises(UnknownFile) as refused:
        await files.get(acme.owner, name, agent="scout")
    assert refused.value.details == {"files": AGENT}


async def test_a_file_of_an_unknown_agent_is_not_there(files: Files, acme: Tenant) -> None:
    for agent in ("nobody", new_id()):
        with pytest.raises(NotFound):
            await files.listed(acme.owner, agent=agent)
    with pytest.raises(Invalid):
        await files.get(acme.owner, "SOUL.md", agent="a\0")


# --- what is written ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "\ufeff---\r\ntitle: Voice\r\n---\r\n\r\nShort.  \r\n\t \r\n",
        "no line end",
        "\n\n\n",
        " \u2028\u2029\x0b\x0c\x1b[31m\x7f\x85 ",
        "👩‍👩‍👧‍👦 e\u0301 é \u202e",
        "é" * 32_768,
    ],
)
async def test_a_body_is_kept_byte_for_byte(files: Files, acme: Tenant, body: str) -> None:
    file = await written(files, acme.owner, "voice", body)
    assert await files.get(acme.reader, "voice") == file
    assert file.body.encode() == body.encode()
    assert (file.hash, file.bytes, file.revision) == (hash_of(body), len(body.encode()), 2)
    assert file.action is Action.WRITTEN
    assert file.author == Author(kind=AuthorKind.USER, user_id=acme.owner.user_id)
    seen = await files.view(subject(acme))
    assert [each.body for each in seen.workspace if each.name == "voice"] == [body]


async def test_what_may_not_be_kept_is_refused_and_nothing_is_written(
    files: Files, acme: Tenant
) -> None:
    for body, error in (
        ("a" * 65_537, FileTooLarge),
        (f"Our token is {SECRET}.", SecretFound),
        ("a\0", Invalid),
        ("\ud800", Invalid),
    ):
        with pytest.raises(error) as refused:
            await files.write(acme.owner, "voice", body, EMPTY)
        assert refused.value.details["field"] == "body"
        assert SECRET not in f"{refused.value.message}{refused.value.details}"
    assert (await files.get(acme.owner, "voice")).revision == 1


async def test_a_write_over_what_has_changed_is_refused_with_what_it_says_now(
    files: Files, acme: Tenant
) -> None:
    file = await written(files, acme.owner, "voice", "Mine.")
    with pytest.raises(FileChanged) as refused:
        await files.write(acme.owner, "voice", "Yours.", EMPTY)
    assert refused.value.details == {
        "file": "voice",
        "revision": 2,
        "current_hash": file.hash,
        "current_body": "Mine.",
    }
    assert "Mine." not in refused.value.message
    assert await files.get(acme.owner, "voice") == file
    with pytest.raises(Invalid):
        await files.write(acme.owner, "voice", "Yours.", "no hash")


async def test_the_hash_is_each_files_own(files: Files, acme: Tenant) -> None:
    await written(files, acme.owner, "voice", "Changed.")
    await files.set_load_mode(acme.owner, "people", ALWAYS)
    assert (await files.write(acme.owner, "people", "Ada.", EMPTY)).revision == 3


async def test_the_same_body_again_is_no_change(
    files: Files, acme: Tenant, storage: Storage
) -> None:
    file = await written(files, acme.owner, "voice", "Short.")
    told = len(await events(storage, acme.owner))
    assert await written(files, acme.owner, "voice", "Short.") == file
    assert len(await events(storage, acme.owner)) == told


# --- how files are loaded -----------------------------------------------------------------------


async def test_a_fourth_file_is_not_always_loaded_and_the_three_are_named(
    files: Files, acme: Tenant
) -> None:
    assert (await files.set_load_mode(acme.owner, "people", "always")).load_mode is ALWAYS
    with pytest.raises(AlwaysLoadedFull) as refused:
        await files.set_load_mode(acme.owner, "roster", ALWAYS)
    assert refused.value.details == {"files": ["about-you", "people", "voice"], "limit": 3}
    assert all(name in refused.value.message for name in ("about-you", "people", "voice"))
    await files.set_load_mode(acme.owner, "people", ALWAYS)  # it is so already
    await files.set_load_mode(acme.owner, "voice", ON_DEMAND)
    assert (await files.set_load_mode(acme.owner, "roster", ALWAYS)).action is Action.MODE_CHANGED
    listed = await files.listed(acme.owner)
    assert listed.always_loaded == ["about-you", "people", "roster"]


async def test_of_many_at_once_three_are_always_loaded(files: Files, acme: Tenant) -> None:
    await files.listed(acme.owner)
    changes = [files.set_load_mode(acme.owner, name, ALWAYS) for name in WORKSPACE]
    outcomes = await asyncio.gather(*changes, return_exceptions=True)
    assert sum(isinstance(each, AlwaysLoadedFull) for each in outcomes) == 3
    assert len((await files.listed(acme.owner)).always_loaded) == 3


async def test_a_load_mode_is_one_of_two(files: Files, acme: Tenant) -> None:
    with pytest.raises(Invalid) as refused:
        await files.set_load_mode(acme.owner, "voice", "sometimes")
    assert refused.value.details["field"] == "load_mode"


async def test_changing_how_a_file_is_loaded_takes_nobodys_edit_away(
    files: Files, acme: Tenant
) -> None:
    file = await written(files, acme.owner, "people", "Ada.")
    changed = await files.set_load_mode(acme.owner, "people", ALWAYS)
    assert (changed.hash, changed.body) == (file.hash, "Ada.")
    assert (await files.write(acme.owner, "people", "Ben.", file.hash)).load_mode is ALWAYS


# --- who may what -------------------------------------------------------------------------------


async def test_owners_write_and_others_read(files: Files, acme: Tenant) -> None:
    agent = acme.key_of(acme.scout)
    for who, error in (
        (acme.member(acme.anna), Refused),
        (agent, Refused),
        (acme.reader, ReadOnly),
    ):
        assert (await files.get(who, "voice")).body == ""
        for asked in (
            files.write(who, "voice", "x", EMPTY),
            files.restore(who, "voice", 1),
            files.set_load_mode(who, "people", ALWAYS),
            files.write(who, "SOUL.md", "x", EMPTY, agent="scout"),
        ):
            with pytest.raises(error):
                await asked
    assert {file.revision for file in (await files.listed(acme.owner)).items} == {1}


async def test_an_agent_writes_its_own_notes_and_nothing_else(files: Files, acme: Tenant) -> None:
    agent = acme.key_of(acme.scout, acme.anna)
    notes = await written(files, agent, "NOTES.md", "Ask Ada first.", agent=acme.scout.id)
    assert notes.author == Author(
        kind=AuthorKind.AGENT, user_id=acme.anna.id, agent_id=acme.scout.id
    )
    assert (await files.restore(agent, "NOTES.md", 1, agent="scout")).body == ""
    for name in set(AGENT) - {"NOTES.md"}:
        with pytest.raises(Refused) as refused:
            await files.write(agent, name, "x", EMPTY, agent="scout")
        assert "Propose" in refused.value.message


async def test_no_agent_reads_or_writes_a_file_of_another(
    files: Files, acme: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    agent = acme.key_of(acme.scout)
    with caplog.at_level(logging.WARNING):
        for asked in (
            files.write(agent, "NOTES.md", "Mine now.", EMPTY, agent="clerk"),
            files.get(agent, "NOTES.md", agent=acme.clerk.id),
            files.listed(agent, agent="clerk"),
            files.history(agent, "NOTES.md", agent="clerk"),
        ):
            with pytest.raises(NotYourFile):
                await asked
    assert str(acme.clerk.id) in caplog.text
    assert "Mine now." not in caplog.text
    assert (await files.get(acme.owner, "NOTES.md", agent="clerk")).body == ""


async def test_a_key_of_a_space_has_no_files(files: Files, acme: Tenant) -> None:
    space = Space(id=new_id(), name="flow/node", agent_id=acme.scout.id, tools=("recall",))
    bound = acme.key_of(acme.scout).model_copy(update={"space": space})
    for asked in (files.get(bound, "voice"), files.listed(bound)):
        with pytest.raises(Refused):
            await asked


async def test_the_operator_has_no_files(files: Files) -> None:
    with pytest.raises(Refused):
        await files.listed(Principal(organization_id=None, role=Role.OPERATOR))


# --- what is told -------------------------------------------------------------------------------


async def test_every_change_is_an_activity_and_an_event_without_a_text(
    storage: Storage, acme: Tenant
) -> None:
    woken = []
    files = Files(storage, woken.append)
    agent = acme.key_of(acme.scout)
    file = await written(files, acme.owner, "voice", "Quietly spoken.")
    await files.restore(acme.owner, "voice", 1)
    await files.set_load_mode(acme.owner, "voice", ON_DEMAND)
    await written(files, agent, "NOTES.md", "Quietly noted.", agent="scout")
    expected = ["context_file_updated", "context_file_restored", "context_file_mode_changed"]
    told = await activities(storage, acme)
    assert kinds(told) == [*expected, "agent_file_edited"]
    assert [each.subject_id for each in told[:3]] == [file.id] * 3
    assert told[0].metadata == {"file": "voice", "revision": 2, "bytes": 15}
    assert (told[3].agent_id, told[3].metadata["file"]) == (acme.scout.id, "NOTES.md")
    heard = await events(storage, acme.owner)
    assert kinds(heard) == ["file.updated"] * 4
    assert [each.metadata["action"] for each in heard] == [
        *("written", "restored", "mode_changed", "written")
    ]
    assert [each.agent_id for each in heard] == [None, None, None, acme.scout.id]
    assert woken == [acme.owner.organization_id] * 4
    assert "Quietly" not in f"{told}{heard}"


async def test_what_was_refused_is_told_to_nobody(
    files: Files, acme: Tenant, storage: Storage
) -> None:
    await files.get(acme.owner, "voice")
    with pytest.raises(SecretFound):
        await files.write(acme.owner, "voice", SECRET, EMPTY)
    with pytest.raises(FileChanged):
        await files.write(acme.owner, "voice", "x", hash_of("y"))
    assert await events(storage, acme.owner) == []
    assert await activities(storage, acme) == []


# --- what a run is given ------------------------------------------------------------------------


async def test_a_run_is_given_every_file_whether_it_was_touched_or_not(
    files: Files, acme: Tenant, storage: Storage
) -> None:
    untouched = await files.view(subject(acme, agent=True))
    assert [each.name for each in untouched.workspace] == WORKSPACE
    assert [each.name for each in untouched.agent] == AGENT
    assert [each.name for each in untouched.always_loaded] == ["about-you", "voice"]
    assert await events(storage, acme.owner) == []
    listed = await files.listed(acme.owner)
    await files.listed(acme.owner, agent="scout")
    assert await files.view(subject(acme, agent=True)) == untouched
    file = await written(files, acme.owner, "SOUL.md", "You are the scout.", agent="scout")
    await files.set_load_mode(acme.owner, "voice", ON_DEMAND)
    seen = await files.view(subject(acme, agent=True))
    assert next((each.body, each.hash, each.revision) for each in seen.agent) == (
        *(file.body, file.hash, 2),
    )
    assert [each.name for each in seen.always_loaded] == ["about-you"]
    assert [file.title for file in listed.items] == [each.title for each in seen.workspace]
    assert (await files.view(subject(acme))).agent == []


# --- two organizations --------------------------------------------------------------------------


async def test_each_organization_has_files_of_its_own(files: Files, storage: Storage) -> None:
    acme, zeta = await new_tenant(storage), await new_tenant(storage, "Zeta")
    mine = await written(files, acme.owner, "voice", "Acme speaks softly.")
    await written(files, acme.owner, "NOTES.md", "Acme notes.", agent="scout")
    await files.set_load_mode(acme.owner, "people", ALWAYS)
    theirs = await files.get(zeta.owner, "voice")
    assert (theirs.body, theirs.revision) == ("", 1)
    assert theirs.id != mine.id
    assert (await files.get(zeta.owner, "NOTES.md", agent="scout")).body == ""
    assert (await files.listed(zeta.owner)).always_loaded == ["about-you", "voice"]
    assert [each.body for each in (await files.view(subject(zeta, agent=True))).workspace] == [
        ""
    ] * 6
    for asked in (
        files.get(zeta.owner, "NOTES.md", agent=acme.scout.id),
        files.write(zeta.owner, "NOTES.md", "x", EMPTY, agent=acme.scout.id),
        files.history(zeta.owner, "NOTES.md", agent=acme.scout.id),
    ):
        with pytest.raises(NotFound):
            await asked
    assert await events(storage, zeta.owner) == []
    crossed = ContextSubject(organization_id=zeta.owner.organization_id, agent_id=acme.scout.id)
    assert "Acme" not in str(await files.view(crossed))


async def test_a_file_knows_nothing_of_its_text_in_its_summary(files: Files, acme: Tenant) -> None:
    file = await written(files, acme.owner, "voice", "Hidden.")
    assert "Hidden." not in str(file.summary())
    assert set(type(file.summary()).model_fields) == set(ContextFile.model_fields) - {"body"}
