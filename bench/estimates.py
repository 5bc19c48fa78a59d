"""Measures the estimators beside tokenizers that bring their vocabulary, on texts that none was fitted on: no network."""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from estimate_fit import fit
from estimate_texts import fitted, held_out

from memoranda.words.estimators import ESTIMATORS
from memoranda.words.tokens import Estimator

PACKAGES: Final = ("quicktok-v1", "anthropic-tokenizer")
ENCODINGS: Final = ("cl100k_base", "o200k_base", "llama3", "qwen3")
PAGE: Final = Path(__file__).parents[1] / "docs" / "estimators.md"
BEGIN, END = "<!-- made by ./dev bench estimates --write -->", "<!-- end -->"

Counts = Mapping[str, Callable[[str], int]]


def main() -> None:
    """Print each estimator's error for each kind of text and each tokenizer; above zero is too high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/estimators.md"
    )
    parser.add_argument("--fitted", action="store_true", help="on the texts that were fitted on")
    parser.add_argument("--fit", action="store_true", help="print rates that are fitted anew")
    options = parser.parse_args()
    counts = tokenizers()
    if options.fit:
        for name, rate in fit(fitted(), list(counts.values())).items():
            print(f"{name}: {rate}")
        return
    made = "\n".join(tables(fitted() if options.fitted else held_out(), counts))
    print(made)
    if options.write:
        write(made)


def tables(texts: Mapping[str, str], counts: Counts) -> Iterator[str]:
    """One table for each estimator, in Markdown."""
    for name, estimator in ESTIMATORS.items():
        yield f"### `{name}`\n"
        yield f"| text | {' | '.join(counts)} |"
        yield "| --- |" + " ---: |" * len(counts)
        for kind, text in texts.items():
            errors = [f"{error(text, count, estimator):+.0%}" for count in counts.values()]
            yield f"| {kind} | {' | '.join(errors)} |"
        yield ""


def error(text: str, count: Callable[[str], int], estimator: Estimator) -> float:
    """How far the estimate is off, as a share of the true count."""
    return estimator(text) / count(text) - 1


def write(made: str) -> None:
    """Put the tables where the page has its own."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{made.strip()}\n\n{END}{after}", "utf-8")


def tokenizers() -> Counts:
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


if __name__ == "__main__":
    main()
