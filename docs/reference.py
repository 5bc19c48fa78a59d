"""Writes the reference pages that are made from the code.

Run it with `./dev docs`. Tests fail when a page on disk is not what this would write.
"""

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import memoranda
from docs.cli_reference import cli_page
from docs.http_reference import http_page
from docs.providers_reference import providers_page
from memoranda.settings import Settings
from memoranda.words.errors import MemorandaError

DOCS = Path(__file__).parent

MADE = "<!-- Made from the code by ./dev docs. Change the code, then run it again. -->"

KINDS = {
    "not_found": "nothing with that name or id is there for this caller",
    "conflict": "the state moved on; read it again and decide anew",
    "invalid": "the input breaks a stated rule, and would again",
    "refused": "this caller may not do this",
    "over_limit": "larger or more often than a stated limit",
    "gone": "it was there, and can't be answered truthfully any more",
    "unavailable": "a part that the answer needs did not work; the input was not at fault",
}


def settings_page() -> str:
    """Every setting: its variable, what it does, its default."""
    prefix = str(Settings.model_config.get("env_prefix", ""))
    lines = [
        "# Settings",
        "",
        MADE,
        "",
        "Each setting is read from the environment. All of them have a default, so none has to be set.",
        "",
        "| variable | what it does | default |",
        "| --- | --- | --- |",
    ]
    for name, info in Settings.model_fields.items():
        if not info.description:
            raise SystemExit(f"The setting {name} has no description; give it one sentence.")
        default = info.get_default(call_default_factory=False)
        shown = (
            "computed" if info.default_factory else "none" if default is None else f"`{default}`"
        )
        lines.append(f"| `{(prefix + name).upper()}` | {cell(info.description)} | {shown} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Every error code, grouped by kind, with what it means and whether trying again may help."""
    lines = [
        "# Errors",
        "",
        MADE,
        "",
        "Every error carries a stable `code` and one of seven kinds, and its message says what to do.",
        "Once published, a code keeps its meaning.",
        "",
        "In Python each is an exception, imported from the module that stands before its name: a kind from",
        "`memoranda.words.errors`, as in `from memoranda.words.errors import NotFound`. All of them are",
        "`memoranda.MemorandaError`s with `code`, `kind`, `message`, `details` and `retryable`.",
    ]
    for kind, meaning in KINDS.items():
        lines += ["", f"## {kind}", "", f"In general: {meaning}.", ""]
        lines += ["| code | meaning | worth trying again | raised in Python as |"]
        lines += ["| --- | --- | --- | --- |"]
        lines += [
            f"| `{error.code}` | {cell(meaning_of(error))} | {'yes' if error.retryable else 'no'} "
            f"| `{error.__module__}.{error.__name__}` |"
            for error in errors()
            if error.kind == kind
        ]
    return "\n".join(lines) + "\n"


def errors() -> list[type[MemorandaError]]:
    """Every error class of the package, by code. Imports all of the package to find them."""
    for module in pkgutil.walk_packages(memoranda.__path__, "memoranda."):
        # Beside the product stand frameworks that need not be there, and that have no errors of ours.
        left_out = ("__main__", ".migrations.", ".integrations.")
        if not any(part in module.name for part in left_out):
            importlib.import_module(module.name)
    found: set[type[MemorandaError]] = set()
    waiting = [MemorandaError]
    while waiting:
        for child in waiting.pop().__subclasses__():
            if child.__module__.startswith("memoranda.") and child not in found:
                found.add(child)
                waiting.append(child)
    return sorted(found, key=lambda error: (error.code, error.__name__))


def meaning_of(error: type[MemorandaError]) -> str:
    written = error.__dict__.get("__doc__")
    if not written:
        raise SystemExit(f"The error {error.__name__} has no docstring; say what it means.")
    return inspect.cleandoc(written).split("\n\n")[0]


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES = {
    "cli.md": cli_page,
    "errors.md": errors_page,
    "http.md": lambda: http_page(MADE),
    "providers.md": lambda: providers_page(MADE),
    "settings.md": settings_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), "utf-8")
        sys.stdout.write(f"wrote docs/{name}\n")


if __name__ == "__main__":
    main()
