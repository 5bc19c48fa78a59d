"""The synchronous face is the same product."""

from pathlib import Path

import pytest

from memoranda.memories.errors import NotRestorable
from memoranda.sync import Memoranda
from memoranda.tools.models import Decision
from memoranda.words.errors import DuplicateMemory, Invalid


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
        waits = memoranda.call("forget", wish, agent_id=scout.id)
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
