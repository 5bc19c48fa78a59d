"""What the README shows is what happens."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
AN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def run(folder: Path, *command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MEMORANDA_")}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**environment, "MEMORANDA_DB": str(folder / "cli.db"), "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_example_prints_what_stands_below_it_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        printed = run(tmp_path, sys.executable, "-c", blocks("python")[0])
        assert AN_ID.sub("ID", printed) == AN_ID.sub("ID", blocks("text")[0])
    assert not [each.name for each in tmp_path.iterdir()]


def test_the_async_example_runs(tmp_path: Path) -> None:
    imports, _, rest = blocks("python")[1].partition("\n\n")
    body = "\n".join(f"    {line}" for line in rest.splitlines())
    program = f"import asyncio\n{imports}\nasync def main():\n{body}\nasyncio.run(main())"
    run(tmp_path, sys.executable, "-c", program)


def test_the_commands_can_be_pasted_word_for_word(tmp_path: Path) -> None:
    program = tmp_path / "memoranda"
    start = "import sys; from memoranda.surfaces.cli import main; sys.argv[0] = 'memoranda'; main()"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{start}" "$@"\n', "utf-8")
    program.chmod(0o755)
    pasted = [block for block in blocks("sh") if not block.startswith("curl")]
    lines = "".join(pasted).splitlines()
    # What installs, and what stays until it is stopped, is proven elsewhere.
    left = [line for line in lines if not line.startswith(("pip ", "claude ", "memoranda serve"))]
    assert len(lines) - len(left) == 4
    script = "\n".join(["set -eu", f'PATH="{tmp_path}:$PATH"', *left, 'echo "KEY=$KEY"'])
    printed = run(tmp_path, "sh", "-c", script)
    assert "Everything is in order." in printed
    assert "ten working days" in printed
    assert "KEY=mk_" in printed


def test_every_page_that_is_linked_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
