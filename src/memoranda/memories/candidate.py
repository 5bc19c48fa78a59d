"""What a caller wants remembered, checked and made ready to store. Pure."""

import hashlib
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.memories.about import StoredRefs, about_input
from memoranda.memories.audience import Audience
from memoranda.memories.models import Origin
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_length, optional_text_input, text_input, time_input
from memoranda.words.ref import ResourceRef
from memoranda.words.secrets.check import check_no_secret
from memoranda.words.subject_key import make_subject_key
from memoranda.words.text import fold

ATTRIBUTES: Final = ("observation.", "preference.")
"""What an attribute begins with, so that a memory can't speak for a field of an application's row."""
MOST_TAGS: Final = 20
LONGEST_TAG: Final = 64
LONGEST_CATEGORY: Final = 64
LONGEST_ATTRIBUTE: Final = 128
# Whitespace, controls and marks of format; and letters and symbols whose glyph is empty.
_UNSEEN: Final = {"Zs", "Zl", "Zp", "Cc", "Cf"}
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


# Named tuples here and in `chain`: each write makes one of each, and a frozen dataclass takes much longer.
class Author(NamedTuple):
    """Who writes, and in the course of what."""

    origin: Origin = Origin.USER
    user_id: UUID | None = None
    agent_id: UUID | None = None
    run_id: UUID | None = None
    conversation_id: UUID | None = None


class Candidate(NamedTuple):
    """A memory that may be written: nothing in it breaks a rule that can be told without the database."""

    audience: Audience
    subject_key: str | None
    text: str
    title: str | None
    category: str | None
    tags: tuple[str, ...]
    expires_at: datetime | None
    author: Author
    pinned: bool = False
    subject_refs: StoredRefs = ()

    @property
    def words(self) -> str:
        """All that words can find it by."""
        return words_of(self.title, self.text, self.category, self.tags)


class Unset(Enum):
    """That nothing is said of a field, where None says that it is to be empty."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class Edit(NamedTuple):
    """What is to change of what a memory says, checked; what is unset stays as it is.

    A text that is not `as_written` says nothing of blanks at its ends: those that were there stay,
    where there is room for them.
    """

    text: str | Unset = UNSET
    title: str | Unset | None = UNSET
    category: str | Unset | None = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    expires_at: datetime | Unset | None = UNSET
    as_written: bool | Unset = UNSET

    def of(self, said: Candidate, text_chars: int) -> Candidate:
        """What `said` becomes, with a text of at most `text_chars` characters."""
        given = {name: value for name, value in self._asdict().items() if value is not UNSET}
        as_written = given.pop("as_written", False)
        if "text" in given and not as_written:
            given["text"] = between_ends_of(said.text, given["text"], text_chars)
        return said._replace(**given)


def words_of(title: str | None, text: str, category: str | None, tags: Sequence[str]) -> str:
    """What the word index reads of a memory, each part on a line of its own."""
    return "\n".join(filter(None, (title, text, category, *tags)))


class Mark(NamedTuple):
    """By what a text is known to be the same: folded, and what stands for that in an index."""

    folded: str
    digest: bytes


def mark_of(text: str) -> Mark:
    """The mark of a text. To make one costs more than to pass it on."""
    folded = fold(text)
    return Mark(folded, digest(folded))


def digest(folded: str) -> bytes:
    """What stands for a folded text in an index."""
    return hashlib.sha256(folded.encode()).digest()


def memory_text(text: str, limit: int, *, as_written: bool = False) -> str:
    """The text trimmed, or as it was written, of 1 to `limit` characters. Raises `Invalid` or `OverLimit`.

    Blanks at its ends make no other text of it: they are in no mark.
    """
    trimmed = text_input("text", text, limit=limit)
    if not any(map(_is_seen, trimmed)):
        raise Invalid(
            "text holds only characters that nobody can see: say something.", field="text"
        )
    if not as_written:
        return trimmed
    check_length("text", text, limit)
    return text


def between_ends_of(before: str, text: str, limit: int) -> str:
    """The trimmed text with the blanks around the one before, or without where both are too long together."""
    if text == before.strip():
        return before
    kept = before[: len(before) - len(before.lstrip())] + text + before[len(before.rstrip()) :]
    return kept if len(kept) <= limit else text


def _is_seen(character: str) -> bool:
    return character not in _BLANK and unicodedata.category(character) not in _UNSEEN


def check_secrets(
    text: str | None,
    title: str | None,
    category: str | None,
    tags: Sequence[str],
    attribute: str | None = None,
) -> None:
    """Raise `SecretFound`, with the field, where anything that is to be kept seems to hold a credential."""
    if text:
        check_no_secret("text", text)
    if title:
        check_no_secret("title", title)
    if category:
        check_no_secret("category", category)
    for place, tag in enumerate(tags):
        check_no_secret(f"tags.{place}", tag)
    if attribute:
        check_no_secret("attribute", attribute)


def attribute_input(attribute: str | None) -> str | None:
    """The attribute in composed form. Raises `Invalid` for one outside the namespaces of memories."""
    checked = optional_text_input("attribute", attribute, limit=LONGEST_ATTRIBUTE)
    if checked is None:
        return None
    composed = unicodedata.normalize("NFC", checked)
    if not any(composed.startswith(start) and composed != start for start in ATTRIBUTES):
        raise Invalid(
            f"attribute must begin with {' or '.join(ATTRIBUTES)} and go on with a name.",
            field="attribute",
        )
    if ":" in composed:
        raise Invalid(
            "attribute holds a colon, which parts a subject key: leave it out.", field="attribute"
        )
    return composed


def subject_key(
    audience: Audience,
    organization_id: UUID,
    attribute: str | None,
    about: ResourceRef | None = None,
) -> str | None:
    """The key under which a newer statement replaces an older one; None without an attribute.

    It begins with the row that the memory is about, or else with whose it is.
    """
    if attribute is None:
        return None
    return make_subject_key(about or audience.owner(organization_id), attribute_input(attribute))


def moved_key(
    key: str | None, before: Audience, after: Audience, organization_id: UUID
) -> str | None:
    """The key of the same attribute in another audience; a key that names an entity stays as it is."""
    owner = before.owner(organization_id)
    start = f"{owner.kind}:{owner.id}:"
    if key is None or not key.startswith(start):
        return key
    return make_subject_key(after.owner(organization_id), key.removeprefix(start))


def tags_input(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags trimmed, each once, in their order. Raises `Invalid` or `OverLimit`."""
    if isinstance(tags, str):
        raise Invalid("tags is one text and must be a list of them.", field="tags")
    if not tags:
        return ()
    checked = [
        text_input(f"tags.{place}", tag, limit=LONGEST_TAG) for place, tag in enumerate(tags)
    ]
    if len(checked) > MOST_TAGS:
        raise OverLimit(
            f"tags has {len(checked)} entries and may have {MOST_TAGS}: leave some out.",
            field="tags",
            limit=MOST_TAGS,
        )
    return tuple(dict.fromkeys(checked))


def candidate_input(
    organization_id: UUID,
    audience: Audience,
    author: Author,
    *,
    text: str,
    text_chars: int,
    title: str | None,
    category: str | None,
    tags: Sequence[str],
    expires_at: datetime | None,
    attribute: str | None,
    about: ResourceRef | None = None,
    pinned: bool = False,
    as_written: bool = False,
) -> Candidate:
    """What somebody wants remembered or proposes, checked; `as_written` keeps blanks at the text's ends.

    Raises `Invalid`, `OverLimit` and `SecretFound` with the field.
    """
    refs = about_input(about)
    made = Candidate(
        audience=audience,
        subject_key=subject_key(audience, organization_id, attribute, about),
        text=memory_text(text, text_chars, as_written=as_written),
        title=optional_text_input("title", title),
        category=optional_text_input("category", category, limit=LONGEST_CATEGORY),
        tags=tags_input(tags),
        expires_at=expiry_input(expires_at),
        author=author,
        pinned=pinned,
        subject_refs=refs,
    )
    check_secrets(made.text, made.title, made.category, made.tags, attribute)
    return made


def edit_input(
    text_chars: int,
    *,
    text: str | Unset = UNSET,
    title: str | Unset | None = UNSET,
    category: str | Unset | None = UNSET,
    tags: Sequence[str] | Unset = UNSET,
    expires_at: datetime | Unset | None = UNSET,
    as_written: bool | Unset = UNSET,
) -> Edit:
    """What somebody wants changed, checked. Raises `Invalid`, `OverLimit` and `SecretFound` with the field."""
    edit = Edit(
        text=text
        if text is UNSET
        else memory_text(text, text_chars, as_written=as_written is True),
        title=title if title is UNSET else optional_text_input("title", title),
        category=category
        if category is UNSET
        else optional_text_input("category", category, limit=LONGEST_CATEGORY),
        tags=tags if tags is UNSET else tags_input(tags),
        expires_at=expires_at if expires_at is UNSET else expiry_input(expires_at),
        as_written=as_written,
    )
    check_secrets(
        None if edit.text is UNSET else edit.text,
        None if edit.title is UNSET else edit.title,
        None if edit.category is UNSET else edit.category,
        () if edit.tags is UNSET else edit.tags,
    )
    return edit


def expiry_input(expires_at: datetime | None) -> datetime | None:
    """The time in UTC. Raises `Invalid` for one without a zone or beyond the calendar."""
    return time_input("expires_at", expires_at)


def check_future(now: datetime, expires_at: datetime | None) -> None:
    """Raise `Invalid` for a time that has come already."""
    if expires_at is not None and expires_at <= now:
        raise Invalid("expires_at is in the past: give a time to come.", field="expires_at")
