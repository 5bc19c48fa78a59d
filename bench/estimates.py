"""Measures the estimate, a quarter of the bytes, beside tokenizers that bring their vocabulary: no network."""

import argparse
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from memoranda.words.tokens import estimate_tokens

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("quicktok-v1", "anthropic-tokenizer")
ENCODINGS: Final = ("cl100k_base", "o200k_base", "llama3", "qwen3")

RUSSIAN: Final = (
    "Поставка перенесена с понедельника на четверг, потому что причал закрыт на ремонт. Анна просит "
    "писать ей коротко и только по делу, а счета присылать отдельным письмом. Договор продлён до "
    "конца следующего года, и новая цена начнёт действовать с первого марта."
)
CHINESE: Final = (
    "由于码头正在维修，送货时间从星期一改到星期四。安娜希望收到简短的邮件，只谈正事，发票请另外发送。"
    "合同已经延长到明年年底，新的价格从三月一日开始生效。如果有问题，请先联系仓库，再打电话给我们的办公室。"
)
EMOJI: Final = "🎉 🚀 ✅ 👍🏽 👩‍👩‍👧 ❤️ 🏳️‍🌈 😂 🙏 🔥 📦 ☕ 🇫🇷 🧑‍💻 💡 📅"


def main() -> None:
    """Print the estimate's error for each kind of text and each tokenizer; above zero is too high."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    counts = tokenizers()
    print("| text | " + " | ".join(counts) + " |")
    print("| --- |" + " ---: |" * len(counts))
    for kind, text in texts().items():
        errors = [f"{error(text, count):+.0%}" for count in counts.values()]
        print(f"| {kind} | " + " | ".join(errors) + " |")


def error(text: str, count: Callable[[str], int]) -> float:
    """How far the estimate is off, as a share of the true count."""
    return estimate_tokens(text) / count(text) - 1


def tokenizers() -> Mapping[str, Callable[[str], int]]:
    """A function that counts, for each vocabulary; ends the program where a package is missing."""
    try:
        quicktok = importlib.import_module("quicktok")
        claude = importlib.import_module("anthropic_tokenizer")
    except ImportError as missing:
        sys.exit(f"estimates: {missing}. First: pip install {' '.join(PACKAGES)}")

    def counting(name: str) -> Callable[[str], int]:
        encode = quicktok.get_encoding(name).encode
        return lambda text: len(encode(text))

    return {name: counting(name) for name in ENCODINGS} | {"claude": claude.count_tokens}


def texts() -> Mapping[str, str]:
    """One text of each kind, long enough that no single word decides."""
    ids = [hashlib.sha256(str(number).encode()).hexdigest()[:32] for number in range(100)]
    rows = [
        {
            "id": number,
            "name": f"Customer {number}",
            "active": number % 3 == 0,
            "tags": ["eu", "new"],
        }
        for number in range(60)
    ]
    return {
        "English, Markdown": (ROOT / "docs" / "words.md").read_text("utf-8"),
        "Python code": (ROOT / "src/memoranda/briefs/packer.py").read_text("utf-8"),
        "JSON, compact": json.dumps(rows, separators=(",", ":")),
        "JSON, indented": json.dumps(rows, indent=2),
        "hexadecimal ids": "\n".join(ids),
        "Russian": RUSSIAN,
        "Chinese": CHINESE,
        "emoji": EMOJI,
    }


if __name__ == "__main__":
    main()
