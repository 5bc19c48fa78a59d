"""A page's bytes to its text, in the encoding that it declares."""

import codecs
import re
from typing import Final

from memoranda.knowledge.errors import WrongEncoding
from memoranda.knowledge.text import read_text, refuse_known_file

_META = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w:.-]{1,40})""",
    re.IGNORECASE,
)
_ENCODINGS = re.compile(
    r"utf-8|utf-16(?:-[bl]e)?|ascii|iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[rut]"
    r"|shift_jis\w*|euc_\w+|gb\w+|hz|big5\w*|iso2022_\w+|mac-\w+|tis-620|johab"
)
_AS_BROWSERS: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
}
_MOST_UNKNOWN: Final = 0.01


def decoded(data: bytes, limit: int) -> str:
    """As browsers tell the encoding: by a byte order mark, then by what the page declares; else UTF-8."""
    declared = _META.search(data[:2048])
    if declared is None or data.startswith(
        (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):
        return read_text(data, limit)
    refuse_known_file(data)
    label = (declared[1] or declared[2]).decode("ascii", "replace")
    try:
        name = codecs.lookup(label).name
    except LookupError:
        name = ""
    if not _ENCODINGS.fullmatch(name):
        raise WrongEncoding(
            f"The page declares the encoding {label!r}, which is not known. Save it as UTF-8."
        )
    if name.startswith("utf-16"):  # a page whose declaration could be read is none
        name = "utf-8"
    text = data.decode(_AS_BROWSERS.get(name, name), "replace")
    if text.count("\ufffd") > max(1, _MOST_UNKNOWN * len(text)):
        raise WrongEncoding(f"The page is not in {label}, as it declares. Save it as UTF-8.")
    return read_text(text.encode(), limit * 4)
