"""The text that is made of a document, with its headings and places."""

from dataclasses import dataclass, field
from typing import Final

from memoranda.knowledge.errors import TooMuchText
from memoranda.knowledge.markdown import Section
from memoranda.knowledge.text import check_chunks
from memoranda.words.text import clean

LONGEST_HEADING: Final = 80


@dataclass(frozen=True, slots=True)
class Written:
    """A document as text. Lines are counted as `unit`, from `first`; "" where they are no place."""

    text: str
    sections: tuple[Section, ...]
    unit: str = ""
    first: int = 1


@dataclass(slots=True)
class Writer:
    """Puts blocks one below the other, and remembers under which headings each stands."""

    most: int
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _sections: list[Section] = field(default_factory=list)
    _path: list[tuple[int, str]] = field(default_factory=list)
    _start: int = 0
    _bare: bool = False

    def heading(self, level: int, text: str) -> None:
        """Begin a section; what follows stands below it."""
        words = " ".join(clean(text).split())
        if not words:
            return
        self._end()
        if self._bare and self._path and level <= self._path[-1][0]:
            self._bare_heading()
        short = words if len(words) <= LONGEST_HEADING else words[: LONGEST_HEADING - 1] + "…"
        self._path = [above for above in self._path if above[0] < level] + [(level, short)]
        self._bare = True

    def block(self, text: str, *, apart: bool = True) -> None:
        """Add a paragraph, or without `apart` a line right below the last."""
        said = clean(text).strip("\n").rstrip()
        if said:
            self._put(("\n\n" if apart else "\n") if self._length > self._start else "")
            self._put(said)
            self._bare = False

    def line(self, text: str) -> None:
        """Add a line, and an empty one where there is no text, so that lines can be counted."""
        self._put(clean(text) + "\n")

    def page(self, text: str, place: str, headings: tuple[str, ...]) -> None:
        """Add a stretch with a place of its own."""
        said = clean(text).strip()
        if said:
            self._put(said)
            self._section(Section(self._start, self._length, headings, place))
            self._put("\n\n")
            self._start = self._length

    def written(self) -> Written:
        """All of it."""
        self._end()
        if self._bare and self._path:
            self._bare_heading()
        return Written(self.text(), tuple(self._sections))

    def text(self) -> str:
        """The text so far, of lines that stand under no heading."""
        return "".join(self._parts)

    def _bare_heading(self) -> None:
        """A heading that nothing stands under is itself a text, so that it is found too."""
        *above, (_, text) = self._path
        self._put(text)
        self._path, whole = above, self._path
        self._end()
        self._path, self._bare = whole, False

    def _end(self) -> None:
        if self._length > self._start:
            headings = tuple(text for _, text in self._path)
            self._section(Section(self._start, self._length, headings))
            self._put("\n\n")
            self._start = self._length

    def _section(self, section: Section) -> None:
        self._sections.append(section)
        check_chunks(len(self._sections))

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length > self.most:
            raise TooMuchText(
                f"The document holds more than {self.most:,} characters of text. "
                "Split it into parts.",
                limit=self.most,
            )
