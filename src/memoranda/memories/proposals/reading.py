"""What a short text says, reduced to what decides whether another says the same: pure, and strict.

An embedder finds "before Friday" and "after Friday" all but equal, and a "not" hardly matters to
it. So the words decide: two texts say the same only where every word that means something is in
both, and they stand to each other alike. Only English has words to spare here: in other languages
two texts say the same when they differ in case, accents and punctuation.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from memoranda.memories.proposals.plain import OWNS, capital_terms, plain_words, term_of
from memoranda.memories.proposals.wording import (
    ALIKE,
    ALIKE_BEFORE,
    BE,
    BETWEEN,
    HAVE,
    LOOSE,
    MY,
    NOT,
    PAST,
    SELF,
    SPARED,
    THEY,
    TIED,
    VOUCHED,
    WAS,
    WEAKENED,
)

_PARTED: Final = re.compile(r"[,;.!?–—、，；。](?!\d)\s*\w|\b(?:and|or|but)\b", re.IGNORECASE)

ME: Final = "me"


class Reading(NamedTuple):
    """A text's telling terms, and how they stand to each other.

    `core` leaves out the terms that an embedder may vouch for. `ties` pairs a small word with
    the term after it. `names` were written with a capital. `verb` is "be" or "have" where the
    text turns on it, after the terms of `subject`, and `turned` is the verb of a passive. `mine`
    says that something is whose the memory is, and `parted` that it makes several statements.
    """

    terms: tuple[str, ...]
    core: tuple[str, ...]
    order: tuple[str, ...]
    words: frozenset[str]
    ties: frozenset[tuple[str, str]]
    names: frozenset[str]
    verb: str | None
    subject: frozenset[str]
    turned: str | None
    mine: bool
    parted: bool

    def tied(self, small: str) -> list[str]:
        """The terms that this small word stands before."""
        return sorted(term for word, term in self.ties if word == small)

    @property
    def by_somebody(self) -> bool:
        """Whether it is a passive that says who does it, or by when."""
        return self.turned is not None and bool(self.tied("by"))


def read(text: str) -> Reading:
    """Read a text. Never raises."""
    words = plain_words(text)
    nobody = SELF | THEY if "user" in words else SELF
    found = _Found()
    for place, word in enumerate(words):
        if word == OWNS:
            if words[place - 1] not in SELF:
                found.own()
        elif word in nobody:
            found.meet_nobody(owns=word in MY or words[place + 1 : place + 2] == [OWNS])
        elif word in NOT or word in TIED or word in LOOSE:
            found.tie(word)
        elif word in BE or word in HAVE or word in WAS:
            found.join(word)
        elif word in SPARED:
            found.spare(word)
        else:
            found.say(word, words[:place])
    return found.reading(text)


class _Found:
    """What has been read so far."""

    def __init__(self) -> None:
        self.marks: list[str] = []
        self.order: list[str] = []
        self.core: list[str] = []
        self.words: set[str] = set()
        self.ties: set[tuple[str, str]] = set()
        self.waiting: dict[str, None] = {}
        self.verb: str | None = None
        self.subject: frozenset[str] = frozenset()
        self.turned: str | None = None
        self.mine = False

    def own(self) -> None:
        """The last term owns what comes: "Evie's manager" is the manager of Evie."""
        if self.order:
            self.ties.add(("of", self.order[-1]))

    def meet_nobody(self, *, owns: bool) -> None:
        """A small word before "me" says how the rest stands to whom the memory is about."""
        self.ties |= {(word, ME) for word in self.waiting if word in TIED}
        self.mine |= owns or "of" in self.waiting
        self.waiting = {word: None for word in self.waiting if word == "not"}

    def tie(self, word: str) -> None:
        """The word waits for the next term."""
        self.waiting["not" if word in NOT else word] = None
        if word in TIED:
            self.marks.append(word)

    def join(self, word: str) -> None:
        """A form of "be" or "have": the first one parts the text."""
        if word in WAS:
            self.marks.append("(past)")
        if self.verb is None:
            self.verb = "have" if word in HAVE else "be"
            self.subject = frozenset(self.order)

    def spare(self, word: str) -> None:
        """Leave the word out, unless it weakens a "not"."""
        if word in WEAKENED and "not" in self.waiting:
            self.marks.append(word)

    def say(self, word: str, before: list[str]) -> None:
        """A word that means something."""
        term = term_of(word)
        helper = next((word for word in reversed(before) if word not in BETWEEN), "")
        helped = helper in BE or helper in WAS
        if _tells_past(word):
            if helped:
                self.turned, self.verb = term, None
            else:
                self.marks.append("(past)")
        elif word.endswith("ing") and helped:
            self.verb = None
        self.order.append(term)
        self.words.add(word.removesuffix("s"))
        if word not in VOUCHED:
            self.core.append(term)
        self.meet(term)

    def meet(self, term: str) -> None:
        """All small words that wait belong to this term; those that can't be spared, in their order too."""
        self.ties |= {(small, term) for small in self.waiting}
        self.ties.add((" ".join(small for small in self.waiting if small not in LOOSE), term))
        self.waiting = {}

    def reading(self, text: str) -> Reading:
        """All of it, once the text has ended."""
        self.meet("")
        marks = [*self.marks, "?"] if "?" in text else self.marks
        return Reading(
            terms=tuple(sorted([*marks, *self.order])),
            core=tuple(sorted([*marks, *(self.core or self.order)])),
            order=tuple(self.order),
            words=frozenset(self.words),
            ties=frozenset(tie for tie in self.ties if tie[0]),
            names=capital_terms(text),
            verb=self.verb,
            subject=self.subject,
            turned=self.turned,
            mine=self.mine,
            parted=_PARTED.search(text) is not None,
        )


def opposed(a: Reading, b: Reading) -> bool:
    """Whether texts of the same terms put them to each other differently: who does it, what is denied."""
    for small in {small for small, _ in a.ties | b.ties}:
        ours, theirs = a.tied(small), b.tied(small)
        spared = small in LOOSE and (small != "by" or a.by_somebody or b.by_somebody)
        if ours != theirs and ((ours and theirs) or not spared):
            return True
    if _placed_otherwise(a, b) or _is_and_has(a, b):
        return True
    return any(_acts_otherwise(*pair) or _owns_otherwise(*pair) for pair in ((a, b), (b, a)))


def same(a: Reading, b: Reading) -> bool:
    """Whether texts say the same, as far as words can tell and but for what an embedder may vouch for."""
    if not a.core or a.core != b.core or opposed(a, b):
        return False
    ours, theirs = _only(a.order, a.core), _only(b.order, a.core)
    turned = (a.turned is None) != (b.turned is None)
    if ours == theirs and (not turned or len(ours) < 2):
        return True
    if a.parted or b.parted or _repeats(a) or _repeats(b):
        return False
    free = set(a.core).difference(_both_tied(a, b))
    if a.by_somebody != b.by_somebody:
        free -= {*a.tied("by"), *b.tied("by"), a.turned or b.turned or ""}
        return _only(ours, free) == _only(theirs, free)
    ours, theirs = _only(ours, free), _only(theirs, free)
    if ours == theirs:
        return not turned
    return _rotated(ours, theirs) and (
        turned or "be" in (a.verb, b.verb) or bool(a.tied("of")) != bool(b.tied("of"))
    )


def _is_and_has(a: Reading, b: Reading) -> bool:
    """Whether one *is* what the other *has*: a manager, say."""
    return {a.verb, b.verb} == {"be", "have"} and a.subject == b.subject and a.words == b.words


def _placed_otherwise(a: Reading, b: Reading) -> bool:
    """Whether a term that both say the place of is "on" in one and "by" in the other, say."""
    for term in {term for _, term in a.ties} & {term for _, term in b.ties}:
        ours = {small for small, tied in a.ties if tied == term and small in LOOSE}
        theirs = {small for small, tied in b.ties if tied == term and small in LOOSE}
        if ours and theirs and not ours & theirs and (ours | theirs) != ALIKE_BEFORE:
            return True
    return False


def _owns_otherwise(a: Reading, b: Reading) -> bool:
    """Whether something is mine in `a`, and somebody else's in `b`."""
    return (
        a.mine and not b.mine and bool(b.names.intersection(b.tied("of")).difference(a.tied("of")))
    )


def _acts_otherwise(a: Reading, b: Reading) -> bool:
    """Whether `b` says actively what `a` says with "by", and somebody else does it there."""
    if not a.by_somebody or b.tied("by") or a.turned not in b.order:
        return False
    verb = b.order.index(a.turned)
    return any(doer in b.order[verb:] for doer in a.tied("by"))


def _both_tied(a: Reading, b: Reading) -> set[str]:
    """The terms that one small word says the place of in both, so that their order does not matter."""
    return {term for small, term in a.ties & b.ties if small != "not"}


def _repeats(reading: Reading) -> bool:
    """Whether a small word comes twice: then only the order says which belongs where."""
    smalls = [small for small, _ in reading.ties]
    return len(smalls) != len(set(smalls))


def _only(order: Iterable[str], terms: Iterable[str]) -> list[str]:
    kept = frozenset(terms)
    return [term for term in order if term in kept]


def _rotated(a: list[str], b: list[str]) -> bool:
    return len(a) == len(b) and any(a[cut:] + a[:cut] == b for cut in range(len(a)))


def _tells_past(word: str) -> bool:
    return word in PAST or (
        len(word) > 4 and word.endswith("ed") and not word.endswith("eed") and word not in ALIKE
    )
