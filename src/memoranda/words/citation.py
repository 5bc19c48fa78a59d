"""What a citation looks like, and how untrusted text loses what could pass for one."""

import re
from typing import Final

# What a kind may be made of and still be read back from `[kind:id]` without doubt.
KIND: Final = r"""[^\[\](){}<>"'`,;:=|\\\r\n]+"""
_CITATION = re.compile(rf"\[({KIND}:[^\[\]]*)(\]?)")
# Full-width brackets and colons read alike. They are everyday in CJK text, which has no such kinds.
_WIDE_CITATION = re.compile(r"([\[［][ ]?[A-Za-z][\w. -]*[:：][^\[\]［］]*)([\]］]?)")
_ROUND = str.maketrans("[]［］", "()（）")


def without_citations(text: str) -> str:
    """Put round brackets where `[kind:` would begin a citation; every other bracket stays."""
    if "［" in text or "：" in text:
        text = _WIDE_CITATION.sub(lambda found: found[0].translate(_ROUND), text)
    if "[" not in text:
        return text
    return _CITATION.sub(lambda found: f"({found[1]}{')' if found[2] else ''}", text)
