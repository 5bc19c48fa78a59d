"""Each form that memories come in is known by what it holds, and read for what it says."""

import io
import json
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.memories.transfer.entry import Named, State
from memoranda.memories.transfer.errors import UnreadableImport
from memoranda.memories.transfer.models import ImportSource as Source
from tests.memories.transfer.readings import FILES, file, read, said, texts

SOURCES = {
    "memoranda.jsonl": Source.MEMORANDA,
    "mem0_get_all.json": Source.MEM0,
    "mem0_page.json": Source.MEM0,
    "openmemory.json": Source.MEM0,
    "langgraph_items.json": Source.LANGGRAPH,
    "langgraph_rows.jsonl": Source.LANGGRAPH,
    "chatgpt_list.txt": Source.CHATGPT,
    "chatgpt_conversations.json": Source.CHATGPT,
    "claude_memories.json": Source.CLAUDE,
    "claude_list.md": Source.CLAUDE,
}


def archive(**members: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name.replace("__", "/").replace("_json", ".json"), content)
    return made.getvalue()


def test_every_fixture_is_told_apart_by_what_it_holds() -> None:
    assert {path.name for path in FILES.iterdir()} == set(SOURCES)
    for name, source in SOURCES.items():
        assert read(file(name)).source is source, name


def test_naming_the_source_reads_the_same() -> None:
    for name, source in SOURCES.items():
        assert read(file(name), source) == read(file(name)), name


# --- our own ---------------------------------------------------------------------------------


def test_an_own_line_says_everything_that_a_memory_says() -> None:
    parsed = read(file("memoranda.jsonl"))
    milk = said(parsed, "Mira takes oat milk")
    assert (milk.line, milk.title, milk.category, milk.tags) == (
        2,
        "Milk",
        "food",
        ("milk", "coffee"),
    )
    assert milk.expires_at == datetime(2999, 1, 31, 9, 0, 0, 123456, UTC)
    assert (milk.pinned, milk.attribute, milk.stated) == (True, "preference.milk", True)
    assert milk.user == Named("01890000-0000-7000-8000-0000000000aa", ("mira",))
    assert said(parsed, "Mira lives in Delft").agent == Named(
        "01890000-0000-7000-8000-0000000000bb", ("concierge",)
    )


def test_what_was_forgotten_comes_first_and_proposals_last_and_a_history_is_passed_over() -> None:
    parsed = read(file("memoranda.jsonl"))
    assert [entry.state for entry in parsed.entries] == [
        State.FORGOTTEN,
        State.ACTIVE,
        State.PROPOSED,
    ]
    assert parsed.passed == {"header": 1, "history": 1}


def test_an_export_of_a_later_version_is_refused_whole() -> None:
    later = file("memoranda.jsonl").replace(b'"version": 1}', b'"version": 2}', 1)
    with pytest.raises(UnreadableImport, match="newer Memoranda"):
        read(later)


def test_a_header_alone_is_an_export_of_nothing() -> None:
    parsed = read(b'{"format": "memoranda-memories", "version": 1}\n')
    assert (parsed.source, parsed.entries, parsed.passed) == (Source.MEMORANDA, [], {"header": 1})


WRONG_LINES: list[tuple[dict[str, Any], str]] = [
    ({"text": 5}, "text"),
    ({"text": None}, "text"),
    ({}, "text"),
    ({"text": "a", "tags": "b"}, "tags"),
    ({"text": "a", "tags": [1]}, "tags"),
    ({"text": "a", "pinned": "yes"}, "pinned"),
    ({"text": "a", "pinned": 1}, "pinned"),
    ({"text": "a", "expires_at": 4_000_000_000}, "expires_at"),
    ({"text": "a", "expires_at": "tomorrow"}, "expires_at"),
    ({"text": "a", "expires_at": "2999-01-01T00:00:00"}, "expires_at"),
    ({"text": "a", "expire_at": "2999-01-01T00:00:00Z"}, "expire_at"),
    ({"text": "a", "user": "ada"}, "user"),
    ({"text": "a", "user": {"external_id": 1}}, "user.external_id"),
    ({"text": "a", "organization_id": "x"}, "organization_id"),
    ({"text": "a", "space": "x"}, "space"),
    ({"text": "a", "subject_key": "user:1:preference.x"}, "subject_key"),
    ({"text": "a", "about": {"kind": " ", "id": "1"}}, "about"),
    ({"text": "a", "status": "purged"}, "status"),
    ({"text": "a", "kind": "wish"}, "kind"),
]


@pytest.mark.parametrize(("line", "field"), WRONG_LINES, ids=[str(each[0]) for each in WRONG_LINES])
def test_an_own_line_of_another_shape_is_refused_by_its_field(
    line: dict[str, Any], field: str
) -> None:
    written = json.dumps({"kind": "memory", **line})
    parsed = read(f'{{"format": "memoranda-memories", "version": 1}}\n{written}\n')
    (unread,) = parsed.unread
    assert (unread.line, unread.code) == (2, "invalid_input")
    assert unread.detail.startswith(f"{field}")


# --- mem0 ------------------------------------------------------------------------------------


def test_mem0_results_are_read_oldest_first_with_their_people_and_categories() -> None:
    parsed = read(file("mem0_get_all.json"))
    assert texts(parsed) == [
        "Is allergic to walnuts",
        "Rents a flat until spring",
        "Prefers trains to planes",
    ]
    walnuts = parsed.entries[0]
    assert walnuts.user == Named("mira", ("mira",))
    assert walnuts.agent == Named("concierge", ("concierge",))
    assert (walnuts.category, walnuts.tags) == ("health", ("food",))
    assert parsed.entries[2].category == "travel"
    assert parsed.entries[1].expires_at == datetime(2999, 4, 1, tzinfo=UTC)
    assert [(each.line, each.code) for each in parsed.unread] == [(3, "invalid_input")]


def test_every_envelope_of_mem0_reads_the_same() -> None:
    records = json.loads(file("mem0_page.json"))["results"]
    envelopes: list[Any] = [
        records,
        {"results": records},
        {"memories": records},
        [{"results": records[:1]}, {"results": records[1:]}],
        {"count": 2, "next": None, "previous": None, "results": records},
    ]
    want = texts(read(file("mem0_page.json")))
    assert want == ["Runs a bakery in Ghent", "Closes on Mondays"]
    for envelope in envelopes:
        assert texts(read(json.dumps(envelope))) == want
    lines = "\n".join(json.dumps(record) for record in records)
    assert texts(read(lines)) == want


def test_a_backup_of_openmemory_names_its_user_and_leaves_out_what_was_deleted() -> None:
    parsed = read(file("openmemory.json"))
    assert texts(parsed) == ["Works from Lisbon"]
    assert parsed.entries[0].user == Named("mira", ("mira",))
    assert parsed.passed == {"deleted": 1}


# --- LangGraph -------------------------------------------------------------------------------


def test_items_say_their_text_wherever_it_stands() -> None:
    parsed = read(file("langgraph_items.json"))
    assert texts(parsed) == [
        "name: Mira\nage: 34\nlanguages: nl, en",
        "Likes dogs",
        "The office closes at six",
        "Guests tip in cash",
        "Belongs to somebody else",
    ]
    profile = parsed.entries[0]
    assert (profile.category, profile.how) == ("UserProfile", ("spelled_out",))
    assert [entry.labels for entry in parsed.entries] == [
        ("mira",),
        ("mira",),
        (),
        ("concierge",),
        ("nobody-here",),
    ]
    assert [(each.line, each.code) for each in parsed.unread] == [(6, "invalid_input")]


def test_rows_of_the_store_table_have_their_namespace_as_one_text_and_their_value_as_json() -> None:
    parsed = read(file("langgraph_rows.jsonl"))
    assert texts(parsed) == ["Takes the night train", "Lunch is at noon"]
    assert parsed.entries[0].labels == ("mira",)
    assert parsed.entries[0].expires_at == datetime(2999, 1, 1, tzinfo=UTC)
    assert [each.line for each in parsed.unread] == [3]


def test_an_answer_of_the_platforms_search_is_read_too() -> None:
    items = json.loads(file("langgraph_items.json"))
    assert texts(read(json.dumps({"items": items}))) == texts(read(file("langgraph_items.json")))


# --- ChatGPT and Claude ----------------------------------------------------------------------


def test_a_pasted_list_is_a_memory_for_each_line() -> None:
    parsed = read(file("chatgpt_list.txt"))
    assert [(entry.line, entry.text) for entry in parsed.entries] == [
        (1, "Prefers metric units."),
        (2, "Is learning Catalan and likes short grammar notes."),
        (4, "Has two cats, Pip and Mo."),
    ]


def test_paragraphs_whose_lines_were_broken_stay_whole() -> None:
    pasted = "Is learning Catalan and\nlikes short notes.\n\nHas two cats.\n"
    assert texts(read(pasted)) == ["Is learning Catalan and\nlikes short notes.", "Has two cats."]


def test_what_the_model_saved_is_taken_from_conversations_and_nothing_else_is() -> None:
    parsed = read(file("chatgpt_conversations.json"))
    assert texts(parsed) == ["Prefers metric units.", "Has two cats."]
    assert parsed.unread == []


def test_the_list_of_a_models_own_context_loses_its_numbers_and_dates() -> None:
    told = "1. [2025-05-02]. The user likes ice cream.\n2. [2025-05-03]. The user skis.\n"
    parsed = read(told)
    assert texts(parsed) == ["The user likes ice cream.", "The user skis."]
    assert parsed.entries[1].created_at == datetime(2025, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "- [2025-05-02] {}",
        "* [2025-05-02]. {}",
        "1. [2025-05-02] {}",
        "[2025-05-02] {}",
        "[2025-05-02]. {}",
        "2025-05-02: {}",
        "- 2025-05-02 - {}",
    ],
)
def test_a_list_with_dates_is_chatgpts_unless_it_is_written_as_claude_is_asked_to(
    line: str,
) -> None:
    told = "\n".join(line.format(text) for text in ("Likes tea.", "Skis.", "Runs."))
    parsed = read(told)
    assert (parsed.source, texts(parsed)) == (Source.CHATGPT, ["Likes tea.", "Skis.", "Runs."])
    assert {entry.created_at for entry in parsed.entries} == {datetime(2025, 5, 2, tzinfo=UTC)}
    assert read(told, Source.CLAUDE).source is Source.CLAUDE
    claudes = "[2025-05-02] - Likes tea.\n- [unknown] - Skis.\n[2025-05-02] - Runs."
    assert read(claudes).source is Source.CLAUDE
    assert read(claudes, Source.CHATGPT).source is Source.CHATGPT


DOCUMENTS = {
    "headings": "# Tea\n\nOolong is from the hills.\n",
    "a heading that is underlined": "Tea\n===\nOolong is from the hills.\n",
    "front matter": "---\ntitle: Tea\n---\nOolong is from the hills.\n",
    "a table": "Kinds of tea:\n\n| tea | from |\n| --- | --- |\n| oolong | hills |\n",
    "code": "Install it:\n\n```sh\npip install tea\n```\n",
    "a link": "- See [the guide](guide.md).\n- Drink it.\n",
    "HTML": "<p>Oolong</p>\nis from the hills.\n",
    "prose": ("Oolong is from the hills. " * 30 + "\n\n") * 3,
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_not_taken_for_a_list_of_memories_unless_somebody_says_so(text: str) -> None:
    with pytest.raises(UnreadableImport, match="This looks like a document and not like memories"):
        read(text)
    with pytest.raises(UnreadableImport, match="--from chatgpt"):
        read(text)
    assert read(text, Source.CHATGPT).entries


@pytest.mark.parametrize(
    "text",
    [
        "**Work**\n- Likes #hashtags and C#.\n- Pays with a|b.\n",
        "Likes tea.\n\n* * *\n\nSkis.\n",
        "Uses <3 as a sign.\nWrites [sic] often.\n",
        "# Notes of mine\n[2025-05-02] - Likes tea.\n",
    ],
)
def test_signs_within_a_list_do_not_make_it_a_document(text: str) -> None:
    assert read(text).entries


def test_a_dash_or_a_star_within_a_line_is_text() -> None:
    told = "Likes tea - with milk.\nReads a * as a star.\nLives in no. 3) of a row."
    assert texts(read(told)) == told.split("\n")
    bullets = "- Likes tea - with milk.\n- Skis – in winter."
    assert texts(read(bullets)) == ["Likes tea - with milk.", "Skis – in winter."]


def test_claudes_markdown_is_read_by_paragraph_and_bullet_under_its_headings() -> None:
    parsed = read(file("claude_memories.json"))
    assert [(entry.title, entry.text) for entry in parsed.entries] == [
        ("Work context", "Mira is a night-shift nurse in Utrecht."),
        ("Work context", "She is writing a thesis about handovers."),
        ("Personal context", "Cycles to work"),
        ("Personal context", "Plays the oboe in an orchestra"),
        (None, "The thesis has four chapters."),
        ("reading list", "Wants to read Ferrante"),
    ]
    assert parsed.entries[4].category == "project"


def test_claudes_list_is_what_stands_in_its_code_block() -> None:
    parsed = read(file("claude_list.md"))
    assert texts(parsed) == [
        "Answer in British English.",
        "Works as a nurse,\nmostly at night.",
        "Plays the oboe.",  # of no date, and so behind what it stands behind
    ]
    assert said(parsed, "Answer in British English.").created_at == datetime(2025, 1, 2, tzinfo=UTC)


def test_an_archive_is_read_for_the_files_that_memories_are_in() -> None:
    claude = archive(
        users_json=b"[]", memories_json=file("claude_memories.json"), conversations_json=b"[]"
    )
    assert len(read(claude).entries) == 6
    newer = archive(
        **{
            "memories__0000-aaaa_json": json.dumps(
                json.loads(file("claude_memories.json"))[0]
            ).encode()
        }
    )
    assert len(read(newer).entries) == 6
    chatgpt = archive(
        user_json=b"{}",
        **{
            "conversations-000_json": file("chatgpt_conversations.json"),
            "conversations-001_json": file("chatgpt_conversations.json"),
        },
    )
    parsed = read(chatgpt)
    assert texts(parsed) == ["Prefers metric units."] * 2 + ["Has two cats."] * 2
    assert sorted(entry.line for entry in parsed.entries) == [1, 2, 3, 4]


def test_an_archive_without_memories_says_so() -> None:
    with pytest.raises(UnreadableImport, match="no file that memories are in"):
        read(archive(photo_json=b"{}"))


def test_json_of_another_kind_is_none_of_the_forms() -> None:
    for other in ({"a": 1}, [1, 2], [], {"messages": [{"role": "user", "content": "x"}]}):
        with pytest.raises(UnreadableImport):
            read(json.dumps(other))
