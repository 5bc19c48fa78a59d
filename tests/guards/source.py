"""The product's own source, as the guards read it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "memoranda"


@dataclass(frozen=True)
class Module:
    """One file: its path within the package (`briefs/packer.py`), its text and its tree."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@cache
def modules() -> tuple[Module, ...]:
    files = sorted(PACKAGE.rglob("*.py"))
    assert files, f"no source under {PACKAGE}"
    return tuple(
        Module(file.relative_to(PACKAGE).as_posix(), file.read_text("utf-8")) for file in files
    )


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each imported name, dotted, with its line: `from a.b import c` gives `a.b.c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{'.' * node.level}{node.module or ''}.{alias.name}"
