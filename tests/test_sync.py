"""The synchronous face is the same product."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoranda.conversations.models import Message
from memoranda.instructions.models import InstructionRequest
from memoranda.memories.errors import NotRestorable
from memoranda.runs.models import RunResult, RunStatus
from memoranda.state.definitions.models import DefinitionKind, DefinitionText
from memoranda.state.dossier.models import Company, DossierText
from memoranda.sync import Memoranda
from memoranda.tools.models import Decision
from memoranda.words.errors import Conflict, DuplicateMemory, Invalid, NotFound
from memoranda.words.ref import ResourceRef


def test_a_script_remembers_adds_searches_and_builds_a_brief(tmp_path: Path) -> None:
    document = tmp_path / "cranes.md"
    document.write_text("# Cranes\n\nCranes migrate in the autumn.\n", "utf-8")
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        kept = memoranda.remember("Invoices go out on the first.", tags=["money"])
        source = memoranda.knowledge_add(document)
        assert source.status == "ready"
        [result] = memoranda.knowledge_search("when do cranes migrate").results
        assert result.source_id == source.id
        brief = memoranda.brief("When do cranes migrate?", explain=True)
        assert "autumn" in brief.text
        assert "on the first" in brief.text
        assert brief.explain
        memoranda.forget(kept.id)
        assert memoranda.memories().items == []
        assert len(memoranda.history(kept.id)) == 2
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        assert memoranda.knowledge_search("cranes").results


def test_a_document_that_can_not_be_read_comes_back_with_its_reason(tmp_path: Path) -> None:
    program = tmp_path / "program.txt"
    program.write_bytes(b"\x7fELF\0\0\1")
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        source = memoranda.knowledge_add(program)
    assert source.status == "failed"
    assert source.reason


def test_the_same_file_is_the_same_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "cranes.md"
    document.write_text("# Cranes\n\nCranes migrate in the autumn.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        first = memoranda.knowledge_add(document)
        assert first.uri == document.as_uri()
        document.write_text("# Cranes\n\nCranes winter in Spain.\n", "utf-8")
        assert memoranda.knowledge_add("cranes.md").id == first.id
        [result] = memoranda.knowledge_search("cranes").results
        assert "Spain" in result.text
        other = memoranda.knowledge_add(document, uri="https://example.org/cranes")
        assert (other.uri, other.kind) == ("https://example.org/cranes", "markdown")


def test_a_script_makes_and_finds_whom_a_memory_is_for(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        ada = memoranda.create_user("Ada", external_id="ada")
        concierge = memoranda.create_agent("concierge")
        memoranda.remember("Ada takes milk.", user_id=ada.id, agent_id=concierge.id)
        assert memoranda.user("ada") == ada
        assert ada in memoranda.users().items
        assert memoranda.agent("concierge") == concierge
        assert memoranda.agents().items == [concierge]
        assert "milk" in memoranda.brief("tea", user_id=ada.id, agent_id=concierge.id).text
        assert "milk" not in memoranda.brief("tea").text


def test_what_is_asked_outside_of_the_block_is_told_so(tmp_path: Path) -> None:
    memoranda = Memoranda(str(tmp_path / "notes.db"))
    with pytest.raises(RuntimeError, match="not open"):
        memoranda.memories()
    with memoranda:
        memoranda.remember("Tea is at four.")
    with pytest.raises(RuntimeError, match="not open"):
        memoranda.remember("Tea is at five.")
    with memoranda:
        assert len(memoranda.memories().items) == 1


def test_errors_arrive_as_they_were_raised(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        memoranda.remember("Invoices go out on the first.")
        with pytest.raises(DuplicateMemory):
            memoranda.remember("invoices go out on the first.")
    with pytest.raises(Invalid), Memoranda("mysql://localhost/x"):
        pass


def test_a_script_finds_by_meaning_what_it_has_just_remembered(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        promise = memoranda.remember("We never quote a delivery date shorter than ten working days")
        rule = memoranda.remember("Invoices go out on the first", pinned=True)
        found = memoranda.search("delivery promises")
        assert [each.memory.id for each in found.results] == [promise.id]
        assert found.semantic
        recalled = memoranda.recall("what is due?")
        assert [each.id for each in recalled.memories] == [rule.id]


def test_a_script_decides_on_proposals_and_takes_back_what_it_forgot(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        concierge = memoranda.create_agent("concierge")
        proposal = memoranda.propose("Ada takes milk", agent_id=concierge.id).proposal
        assert proposal is not None
        assert memoranda.proposals().items == [proposal]
        memory = memoranda.accept(proposal.id)
        memoranda.update(memory.id, text="Ada takes oat milk")
        memoranda.forget(memory.id)
        assert memoranda.restore(memory.id).text == "Ada takes oat milk"
        assert memoranda.forget_all("FORGET ALL") == 1
        assert memoranda.erase(memory.id).memories == 1
        with pytest.raises(NotRestorable):
            memoranda.restore(memory.id)


def test_a_script_calls_tools_as_an_agent_and_decides_what_waits(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        scout = memoranda.create_agent("scout")
        memoranda.set_tool_policy("scout", "remember", Decision.ALLOW)
        kept = memoranda.call("remember", {"content": "Tea, no sugar."}, agent_id=scout.id, key="1")
        again = memoranda.call(
            "remember", {"content": "Tea, no sugar."}, agent_id=scout.id, key="1"
        )
        assert kept.answer is not None
        assert (again.answer, again.replayed) == (kept.answer, True)
        wish = {"memory_id": kept.answer["memory_id"], "expected_version": 1}
        sweet = {**wish, "patch": {"content": "Tea, two sugars."}}
        waits = memoranda.call("update", sweet, agent_id=scout.id)
        assert waits.answer is not None
        assert waits.answer["outcome"] == "waiting"
        [approval] = memoranda.approvals().items
        assert memoranda.deny(approval.id).status == "denied"
        memoranda.call("forget", wish, agent_id=scout.id)
        [approval] = memoranda.approvals().items
        assert memoranda.approve(approval.id).status == "approved"
        assert memoranda.memories().items == []
        assert [call.tool for call in memoranda.calls().items][-1] == "remember"
        refused = memoranda.call("get", {"memory_id": "no id"}, agent_id=scout.id)
        assert refused.refusal is not None
        assert "remember" in [offer.name for offer in memoranda.tools()]


def test_a_script_reports_a_run_and_reads_the_block_that_it_was_given(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        memoranda.remember("Tea is at five.")
        parent = memoranda.runs.create()
        run = memoranda.runs.create(parent_id=parent.id, input={"goal": "tea"})
        first = memoranda.runs.brief(run.id, "tea")
        memoranda.runs.log(run.id, "plan", metadata={"steps": 2})
        assert memoranda.runs.wait(run.id, "Approval").waiting_reason == "Approval"
        assert memoranda.runs.list(status=RunStatus.WAITING).items == [memoranda.runs.get(run.id)]
        memoranda.remember("Coffee is at six.")
        assert memoranda.runs.resume(run.id).stage == 1
        second = memoranda.runs.brief(run.id, "tea")
        assert (first.built, second.built) == (True, True)
        done = memoranda.runs.complete(
            run.id, summary="Made.", refs=[{"kind": "crm.deal", "id": "7"}]
        )
        assert done.result == RunResult(
            summary="Made.", refs=[ResourceRef(kind="crm.deal", id="7")]
        )
        assert memoranda.runs.block(run.id, stage=0).brief.text == first.brief.text
        explained = memoranda.runs.block(run.id, explain=True).brief.explain
        assert [each.outcome for each in explained or ()] == ["kept", "kept"]
        assert [line.step for line in memoranda.runs.logs(run.id).items] == ["plan"]
        assert memoranda.runs.fail(parent.id, "No tea").failure_reason == "No tea"
        assert memoranda.runs.cancel(memoranda.runs.create().id).status is RunStatus.CANCELLED


def test_a_script_asks_what_a_brief_would_have_said_at_a_past_time(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        kept = memoranda.remember("Tea is at five.")
        then = datetime.now(UTC)
        memoranda.forget(kept.id)
        assert "Tea" not in memoranda.brief("tea").text
        past = memoranda.brief("tea", as_of=then)
        assert "Tea is at five." in past.text
        assert past.times["memory"].speaks_for == then
        assert past.times["knowledge"].speaks_for is None


def test_a_script_writes_the_dossier_and_definitions_and_publishes_a_policy(
    tmp_path: Path,
) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        ada = memoranda.create_user("Ada")
        written = memoranda.dossier.put(DossierText(company=Company(name="Acme")), 0)
        assert memoranda.dossier.put_user(ada.id, "Short answers.", 0).version == 1
        assert memoranda.dossier.get_user(ada.id).text == "Short answers."
        told = memoranda.dossier.get(user_id=ada.id)
        assert (told.company, told.version) == (written.company, 1)
        text = DefinitionText(name="Clerk", summary="Answers customers.")
        clerk = memoranda.definitions.create(DefinitionKind.SKILL, "clerk", text)
        changed = text.model_copy(update={"summary": "Answers everybody."})
        memoranda.definitions.update(clerk.id, changed, 1)
        assert memoranda.definitions.publish(clerk.id).published_at
        assert "Answers everybody." in memoranda.brief("who?").text
        assert memoranda.definitions.unpublish(clerk.id).published_at is None
        assert [each.id for each in memoranda.definitions.list().items] == [clerk.id]
        memoranda.definitions.remove(clerk.id)
        with pytest.raises(NotFound):
            memoranda.definitions.get(clerk.id)
        source = {"name": "dossier", "token_budget": 100}
        memoranda.policies.publish("small", {"sources": [source], "total_token_budget": 100})
        assert memoranda.policies.get("small").version == 1
        assert "small" in [each.name for each in memoranda.policies.list()]
        assert "Acme" in memoranda.brief("q", policy_name="small").text


def test_a_script_keeps_what_is_said_and_reads_rows_that_it_declares(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        talk = memoranda.conversations.create()
        said = [Message(role="user", content="Is there tea?")]
        assert memoranda.conversations.append(talk.id, said, expected_length=0).length == 1
        assert memoranda.conversations.get(talk.id).length == 1
        assert [each.content for each in memoranda.conversations.messages(talk.id)] == [
            "Is there tea?"
        ]
        assert [each.id for each in memoranda.conversations.list().items] == [talk.id]
        assert "Is there tea?" in memoranda.brief("q", conversation=talk.id).text
        assert memoranda.state.kinds() == []
        assert memoranda.state.resolve([ResourceRef(kind="crm.deal", id="7")]) == []


def test_the_rooms_of_a_face_that_is_not_open_say_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="not open"):
        Memoranda(str(tmp_path / "notes.db")).runs.list()


def test_a_script_looks_after_its_documents_and_the_model_that_finds_them(tmp_path: Path) -> None:
    document = tmp_path / "cranes.md"
    document.write_text("# Cranes\n\nCranes migrate in the autumn.\n", "utf-8")
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        source = memoranda.knowledge_add(document)
        assert [each.id for each in memoranda.knowledge.list().items] == [source.id]
        assert memoranda.knowledge.describe(source.id, summary="Birds.").summary == "Birds."
        assert memoranda.knowledge.get(source.id).summary == "Birds."
        began = memoranda.knowledge.model()
        other = "none" if began.active else began.at_hand[0]
        switched = memoranda.knowledge.switch_model(other)
        assert switched.active == (None if other == "none" else other)
        back = memoranda.knowledge.switch_model(began.active or "none")
        assert (back.active, back.next) == (began.active, None)
        assert memoranda.knowledge.cancel_switch().active == began.active
        with pytest.raises(Conflict):
            memoranda.knowledge.retry(source.id)
        memoranda.knowledge.remove(source.id)
        assert memoranda.knowledge.list().items == []


def test_a_script_writes_files_and_sees_what_arrives(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        scout = memoranda.create_agent("scout")
        first = memoranda.files.get("voice")
        file = memoranda.files.write("voice", "Short.", first.hash)
        assert memoranda.files.as_of("voice", file.written_at).body == "Short."
        assert [each.number for each in memoranda.files.history("voice")] == [2, 1]
        assert memoranda.files.revision("voice", 1).body == ""
        assert memoranda.files.restore("voice", 1).body == ""
        assert memoranda.files.erase_revision("voice", 2).number == 2
        assert memoranda.files.set_load_mode("people", "always").load_mode == "always"
        assert memoranda.files.list().always_loaded == ["about-you", "people", "voice"]
        notes = memoranda.files.list(agent="scout")
        assert len(notes.items) == 6
        assert len(notes.load.segments) == 5
        with pytest.raises(Conflict):
            memoranda.files.write("voice", "Loud.", file.hash)
        change = memoranda.file_proposals.propose("voice", "Warm.", first.hash)
        assert memoranda.file_proposals.list().items[0].id == change.id
        assert memoranda.file_proposals.get(change.id).body == "Warm."
        assert memoranda.file_proposals.apply(change.id).body == "Warm."
        other = memoranda.file_proposals.propose("NOTES.md", "Ask.", first.hash, agent=scout.id)
        assert memoranda.file_proposals.discard(other.id).status == "discarded"
        run = memoranda.runs.create(agent_id=scout.id)
        told = memoranda.instructions.assemble(run.id, InstructionRequest(query="milk"))
        assert "Warm." in told.text
        assert memoranda.instructions.get(run.id).digest == told.digest
        report = memoranda.instructions.load("scout")
        assert report.last_run.agrees
        assert memoranda.instructions.file_load("voice").included == 2
        assert memoranda.instructions.ask("NOTES.md", agent="scout").tool == "update_notes"
