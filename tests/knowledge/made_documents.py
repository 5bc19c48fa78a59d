"""Small documents of each format, made on the spot."""

import io
import zipfile

from pypdf import PdfReader, PdfWriter

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="word/document.xml"/></Relationships>'
)
_STYLES = (
    f'<w:styles {_W}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style></w:styles>'
)


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of WordprocessingML."""
    shown = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{shown}<w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    """A table of WordprocessingML."""
    lines = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


def docx(body: str, *, head: str = "", more: dict[str, bytes] | None = None) -> bytes:
    """A DOCX file with this body; `head` stands before the document's root element."""
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _RELS,
        "word/styles.xml": _STYLES,
        "word/document.xml": f'<?xml version="1.0"?>{head}<w:document {_W}><w:body>{body}</w:body></w:document>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**parts, **(more or {})}.items():
            archive.writestr(name, content)
    return file.getvalue()


def pdf(*pages: str, drawn: str = "") -> bytes:
    """A PDF with a line of text on each page; `drawn` is put in the content of each."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for text in pages:
        shown = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        content = f"{drawn} {shown}".strip()
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects) + 2} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table_at = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    out += "".join(f"{place:010} 00000 n \n" for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table_at}\n%%EOF\n"
    return out.encode("latin-1")


def encrypted(data: bytes, password: str) -> bytes:
    """The PDF, encrypted so that reading it asks for the password; with "" it asks for none."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(password, owner_password="owner", algorithm="AES-256")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def outlined(data: bytes, titles: dict[int, str]) -> bytes:
    """The PDF with an outline that points at pages, counted from 0."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    for page, title in titles.items():
        writer.add_outline_item(title=title, page_number=page)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def ole(stream: str) -> bytes:
    """The beginning of an old Office file that holds a stream of this name."""
    return (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + stream.encode("utf-16-le") + bytes(512)
    )
