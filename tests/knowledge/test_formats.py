"""What is kept of PDF, DOCX, HTML and CSV, and what is left out."""

import pytest

from memoranda.knowledge.extract import extract, kind_of
from memoranda.knowledge.models import SourceKind
from tests.knowledge.made_documents import docx, encrypted, outlined, paragraph, pdf, table

LIMIT = 1 << 20


def read(data: bytes | str, kind: SourceKind) -> list[tuple[str, str]]:
    """Each chunk's text and place."""
    raw = data.encode() if isinstance(data, str) else data
    return [(chunk.text, chunk.place) for chunk in extract(raw, kind, limit=LIMIT)]


def test_a_pdf_is_read_page_by_page() -> None:
    chunks = extract(
        outlined(pdf("Dock one", "Dock two", "Rules"), {0: "Docks", 2: "House"}), "pdf", limit=LIMIT
    )
    assert [(c.text, c.place, c.heading) for c in chunks] == [
        ("Dock one", "page 1", "Docks"),
        ("Dock two", "page 2", "Docks"),
        ("Rules", "page 3", "House"),
    ]


def test_a_pdf_that_asks_for_no_password_is_read_although_it_is_encrypted() -> None:
    assert read(encrypted(pdf("Open to all"), ""), "pdf") == [("Open to all", "page 1")]


def test_a_page_without_text_takes_no_other_with_it() -> None:
    assert read(pdf("One", "", "Three"), "pdf") == [("One", "page 1"), ("Three", "page 3")]


def test_a_docx_keeps_headings_and_tables() -> None:
    body = (
        paragraph("Handbook", "H1")
        + paragraph("Ring twice.")
        + paragraph("Doors", "H2")
        + table(("Door", "Opens"), ("Back", "at seven"), ("Front", "never"))
    )
    assert read(docx(body), "docx") == [
        ("Ring twice.", "Handbook"),
        ("Door: Back; Opens: at seven\nDoor: Front; Opens: never", "Handbook > Doors"),
    ]


def test_what_was_deleted_from_a_docx_is_not_read_and_what_was_inserted_is() -> None:
    tracked = (
        "<w:p><w:ins><w:r><w:t>new words</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>old words</w:delText></w:r></w:del></w:p>"
    )
    assert read(docx(tracked), "docx") == [("new words", "")]


def test_html_keeps_headings_lists_and_tables() -> None:
    page = """<title>Ports</title><h1>Harbor</h1><p>Open <b>all</b>
      day.<ul><li>Pier one<li>Pier two<ol><li>north<li>south</ol></ul>
      <h2>Fees</h2><table><tr><th>Boat<th>Fee<tr><td>Kayak<td>2 €<tr><td>Ferry<td>90 €</table>"""
    assert read(page, "html") == [
        ("Open all day.\n- Pier one\n- Pier two\n  1. north\n  2. south", "Harbor"),
        ("Boat: Kayak; Fee: 2 €\nBoat: Ferry; Fee: 90 €", "Harbor > Fees"),
    ]


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>unseen()</script>",
        "<style>.unseen {}</style>",
        "<!-- unseen -->",
        "<nav>unseen</nav>",
        "<footer>unseen</footer>",
        "<template>unseen</template>",
        "<noscript>unseen</noscript>",
        "<p hidden>unseen</p>",
        "<p style='color: red; display:none'>unseen</p>",
        "<div role=navigation>unseen</div>",
        "<span aria-hidden=true>unseen</span>",
        "<svg><text>unseen</text></svg>",
        "<select><option>unseen</select>",
        "<iframe src='http://unseen.invalid/'>unseen</iframe>",
    ],
)
def test_what_no_reader_of_a_page_looks_for_is_left_out(unseen: str) -> None:
    assert read(f"<body><p>Seen before.</p>{unseen}<p>Seen after.</p>", "html") == [
        ("Seen before.\n\nSeen after.", "")
    ]


def test_the_main_part_of_a_page_is_the_page() -> None:
    page = "<header>Shop</header><main><h1>Kayaks</h1><p>Green ones.</main><aside>Buy!</aside>"
    assert read(page, "html") == [("Green ones.", "Kayaks")]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "shift_jis", "utf-16"])
def test_a_page_is_read_in_the_encoding_that_it_declares(encoding: str) -> None:
    word = "港" if encoding == "shift_jis" else "café"
    page = f"<meta charset={encoding}><p>{word} {word}".encode(encoding)
    assert read(page, "html") == [(f"{word} {word}", "")]


def test_preformatted_text_keeps_its_lines() -> None:
    assert read("<pre>if x:\n    y\n</pre>", "html") == [("if x:\n    y", "")]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_row_of_a_table_says_what_each_cell_is(mark: str) -> None:
    data = "\n".join(mark.join(row) for row in [("Name", "City"), ("Ada", "Bonn"), ("Bo", "")])
    assert read(data, "csv") == [("Name: Ada; City: Bonn\nName: Bo", "rows 2-3")]


def test_columns_without_names_are_numbered() -> None:
    assert read("1,kayak\n2,canoe\n", "csv") == [
        ("column 1: 1; column 2: kayak\ncolumn 1: 2; column 2: canoe", "rows 1-2")
    ]


def test_a_cell_may_have_lines_and_delimiters_of_its_own() -> None:
    data = 'Name,Said\nAda,"one, two\nthree"\n'
    assert read(data, "csv") == [("Name: Ada; Said: one, two three", "row 2")]


def test_a_table_of_names_alone_says_them() -> None:
    assert read("Name,City\n", "csv") == [("Name; City", "row 1")]


def test_text_of_every_format_is_cleaned() -> None:
    assert read("<p>a&#0;b&#xD800;c", "html")[0][0].encode()
    assert "\0" not in read("<p>a&#0;b", "html")[0][0]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.pdf", b"", "pdf"),
        ("a.DOCX", b"", "docx"),
        ("a.htm", b"", "html"),
        ("a.tsv", b"", "csv"),
        ("a.txt", pdf("x"), "pdf"),
        ("a.pdf", docx(paragraph("x")), "docx"),
        ("a.html", b"plain", "html"),
    ],
)
def test_bytes_tell_the_kind_before_the_name_does(name: str, data: bytes, kind: str) -> None:
    assert kind_of(name, data) == kind
