"""The words of English that a statement can spare, and those that it turns on: lists, and nothing else."""

from typing import Final

from memoranda.search.english import IRREGULAR_FORMS


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


SELF: Final = _words("i me my mine myself user we us our ours")
"""Whom a memory is about when it names nobody."""

MY: Final = _words("my mine our ours their")

THEY: Final = _words("they their them")
"""The same, in a memory that says "user"."""

SPARED: Final = _words(
    "a an the this that these those it its there also each every any all ever always please now"
    " currently presently recently really still own so then rather do does doing done must should"
    " shall ought happen happens include includes"
)
"""Adds nothing to what is said."""

WEAKENED: Final = _words("each every all always really still so")
"""These do add something after a "not"."""

VOUCHED: Final = _words(
    "use used uses using work works job employed follow follows eat eats diet person name named"
    " called kind type sort fact"
)
"""Often adds nothing: spared where an embedder finds the two texts near as well."""

BE: Final = _words("am is are be been being get gets getting got")
HAVE: Final = _words("have has having")
WAS: Final = _words("was were had did")
BETWEEN: Final = _words("never not always also usually often currently still only ever now")
"""May stand between a form of "be" and its participle."""

NOT: Final = _words("not never no none nor neither cannot nobody nothing")

TIED: Final = _words(
    "from than over above before after until till since below under beyond against between except"
    " unless despite instead without if when while because or and but within during into onto off"
    " out up down about"
)
"""How the next word stands to the rest. These count, and the words next to them must agree."""

LOOSE: Final = _words("in on at for with of as by to")
"""The same; but the order of the words may say it too, as in "office hours"."""

ALIKE_BEFORE: Final = frozenset({"to", "for"})
"""Of two different ones before one term, these say the same: "to indent", "for indentation"."""

_PRESENT: Final = _words("am is are been does done has gone got")
_PLURALS: Final = _words(
    "children people men women feet teeth mice geese lives wives knives leaves shelves halves wolves"
    " loaves thieves calves"
)
PAST: Final = IRREGULAR_FORMS.keys() - _PRESENT - _PLURALS
"""Irregular forms that tell of the past, unless a form of "be" comes before."""

_CARDINALS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
)
NUMBERS: Final = {word: str(number) for number, word in enumerate(_CARDINALS.split())} | {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th",
    "sixth": "6th", "seventh": "7th", "eighth": "8th", "ninth": "9th", "tenth": "10th",
}  # fmt: skip

SIGNS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "&": "and"}

ALIKE: Final = {
    word: row.split()[0]
    for row in (
        "like likes liked love loves enjoy enjoys prefer prefers preferred preference preferences",
        "live lives lived living home reside resides residing",
        "move moves moved relocate relocates relocated",
        "phone phones phoned telephone",
        "job profession occupation",
        "child kid kids",
        "buy buys purchase purchases",
        "begin begins start starts",
        "big large",
        "small little",
    )
    for word in row.split()
}
"""A word to the one that means the same in a memory."""
