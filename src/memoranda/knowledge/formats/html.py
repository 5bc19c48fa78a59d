"""HTML to text: what a reader of the page sees, without what leads around it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from memoranda.knowledge.errors import TooManyCells
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.declared import decoded
from memoranda.knowledge.formats.depth import check_depth, too_deep
from memoranda.knowledge.formats.rows import line_of, names_of
from memoranda.knowledge.formats.written import Writer, Written

_LEFT_OUT: Final = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "nav",
        "footer",
        "iframe",
        "object",
        "embed",
        "svg",
        "canvas",
        "audio",
        "video",
        "map",
        "select",
        "datalist",
        "button",
        "input",
        "textarea",
        "dialog",
        "head",
        "title",
        "menu",
        "frameset",
    ]
)
_ROLES_LEFT_OUT: Final = frozenset(
    [
        "navigation",
        "search",
        "banner",
        "contentinfo",
        "menu",
        "menubar",
        "toolbar",
        "dialog",
        "alertdialog",
    ]
)
_INLINE: Final = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "math",
        "mi",
        "mn",
        "mo",
        "mrow",
        "msub",
        "msup",
        "nobr",
        "q",
        "rb",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
        "img",
    ]
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_MOST_SPAN: Final = 100
_MARKS_OF_A_LINK: Final = frozenset("¶#§🔗")


def read_html(data: bytes, limit: int, bounds: Bounds) -> Written:
    """Read a page: its main part if it says which that is, and never scripts, styles or navigation."""
    return read_markup(decoded(data, limit), bounds)


def read_markup(html: str, bounds: Bounds, *, named: bool = False) -> Written:
    """Read markup; with `named`, a table's first row names its columns unless it reads like data."""
    check_depth(html, bounds)
    tree = LexborHTMLParser(html)
    writer = Writer(bounds.characters)
    if not named and tree.css_first("h1") is None and (title := tree.css_first("title")):
        writer.heading(1, title.text())
    root = _main(tree)
    if root is not None:
        _Page(writer, bounds, named).read(root)
    return writer.written()


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main", "[role=main]"):
        found = tree.css(selector)
        if len(found) == 1 and found[0].text(strip=True):
            return found[0]
    return tree.body or tree.root


@dataclass(slots=True)
class _Page:
    """Walks the tree without recursion, and writes a block for each stretch of running text."""

    writer: Writer
    bounds: Bounds
    named: bool
    cells: int = 0
    _said: list[str] = field(default_factory=list)
    _lists: list[int | None] = field(default_factory=list)
    _mark: str = ""
    _close: bool = False  # whether the next block stands right below the last
    _exact: int = 0  # how many <pre> are open

    def read(self, root: LexborNode) -> None:
        for node, enters in _walk(root, self._passes, self.bounds):
            if enters:
                self._enter(node)
            else:
                self._leave(node)
        self._flush()

    def _passes(self, node: LexborNode) -> bool:
        """Whether nothing below the node is walked: it is left out, or was read as a whole."""
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._flush()
            self.writer.heading(_HEADINGS[tag], _words(node, self.bounds))
            return True
        if tag == "table" and _is_table(node, named=self.named):
            self._flush()
            self._table(node)
            return True
        return _left_out(node)

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            text = node.text_content or ""
            self._said.append(text if self._exact else _SPACE.sub(" ", text))
        elif tag == "br":
            self._said.append("\n")
        elif tag == "img":
            self._said.append(f" {(node.attributes.get('alt') or '').strip()} ")
        elif tag not in _INLINE:
            self._flush()
            if tag in {"ul", "ol"}:
                self._lists.append(0 if tag == "ol" else None)
            elif tag == "li":
                self._item()
            elif tag in {"dd", "tr"}:
                self._close = True
            elif tag == "pre":
                self._exact += 1
        if tag in {"td", "th"}:
            self._close = True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _INLINE or tag == "br" or tag.startswith("-"):
            return
        self._flush()
        if tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            self._close = bool(self._lists)
        elif tag == "pre":
            self._exact -= 1
        elif tag == "li":
            self._mark = ""

    def _item(self) -> None:
        if not self._lists:
            self._lists.append(None)
        number = self._lists[-1]
        self._close = self._close or len(self._lists) > 1 or bool(number)
        indent = "  " * min(len(self._lists) - 1, 8)
        if number is None:
            self._mark = f"{indent}- "
        else:
            self._lists[-1] = number + 1
            self._mark = f"{indent}{number + 1}. "

    def _flush(self) -> None:
        said = "".join(self._said)
        self._said.clear()
        if not self._exact:
            lines = (" ".join(line.split()) for line in said.split("\n"))
            said = "\n".join(line for line in lines if line)
        if said.strip():
            self.writer.block(self._mark + said, apart=not (self._close or self._mark))
            self._mark, self._close = "", False

    def _table(self, table: LexborNode) -> None:
        for caption in _below(table, "caption"):
            self.writer.block(_words(caption, self.bounds))
        names: tuple[str, ...] | None = None
        first, rows = True, 0
        for row in _below(table, "tr"):
            cells = self._counted(row)
            texts = _spread(cells, self.bounds)
            heads = self.named or all(cell.tag == "th" for cell in cells)
            if first and heads and len(texts) > 1 and (names := names_of(texts)):
                first = False
                continue
            self.writer.block(line_of(texts, names), apart=not rows)
            first, rows = False, rows + 1
        if names and not rows:  # nothing but names: they are what it says
            self.writer.block(line_of(names))

    def _counted(self, row: LexborNode) -> list[LexborNode]:
        cells = [cell for cell in _children(row) if cell.tag in {"td", "th"}]
        self.cells += len(cells)
        if self.cells > self.bounds.cells:
            raise TooManyCells(
                f"The document's tables have more than {self.bounds.cells:,} cells. Split it.",
                limit=self.bounds.cells,
            )
        return cells


def _spread(cells: list[LexborNode], bounds: Bounds) -> list[str]:
    """The texts of a row's cells, each in its column."""
    texts: list[str] = []
    for cell in cells:
        texts.append(_words(cell, bounds))
        span = cell.attributes.get("colspan") or ""
        wide = int(span) if span.isascii() and span.isdigit() and len(span) < 4 else 1
        texts += [""] * (min(wide, _MOST_SPAN) - 1)
    return texts


def _walk(
    root: LexborNode, passes: Callable[[LexborNode], bool], bounds: Bounds
) -> Iterator[tuple[LexborNode, bool]]:
    """Each node below the root, as it is entered and as it is left, in the order of the page."""
    path: list[LexborNode] = []
    node = root.child
    while True:
        if node is None:
            if not path:
                return
            last = path.pop()
            yield last, False
            node = last.next
        elif passes(node):
            node = node.next
        else:
            yield node, True
            if node.child is None:
                yield node, False
                node = node.next
            else:
                path.append(node)
                if len(path) > bounds.depth:
                    raise too_deep(bounds)
                node = node.child


def _left_out(node: LexborNode) -> bool:
    tag = node.tag or ""
    if tag in _LEFT_OUT or tag == "-comment":
        return True
    if tag.startswith("-"):
        return False
    attributes = node.attributes
    if tag == "a" and (node.text() or "").strip() in _MARKS_OF_A_LINK:
        return True
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or (attributes.get("role") or "").lower() in _ROLES_LEFT_OUT
        or bool(_HIDDEN.search(attributes.get("style") or ""))
    )


def _words(node: LexborNode, bounds: Bounds) -> str:
    """All that is read of a node, on one line."""
    said = []
    for inner, enters in _walk(node, _left_out, bounds):
        tag = inner.tag or ""
        if not enters:
            said.append("" if tag in _INLINE or tag == "-text" else " ")
        elif tag == "-text":
            said.append(inner.text_content or "")
        elif tag == "img":
            said.append(f" {inner.attributes.get('alt') or ''} ")
    return " ".join("".join(said).split())


def _is_table(table: LexborNode, *, named: bool) -> bool:
    """Whether it holds data, and no page that is laid out in it."""
    if table.attributes.get("role") in {"presentation", "none"}:
        return False
    laid_out = "table table" if named else "table table, h1, h2, h3, h4, ul, ol, pre, p + p"
    return table.css_first(laid_out) is None


def _below(table: LexborNode, tag: str) -> Iterator[LexborNode]:
    for child in _children(table):
        if child.tag == tag:
            yield child
        elif child.tag in {"thead", "tbody", "tfoot"}:
            yield from (row for row in _children(child) if row.tag == tag)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        if not _left_out(child):
            yield child
        child = child.next
