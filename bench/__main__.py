"""Runs one benchmark by its name, or says which there are."""

import runpy
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
NAMES: Final = (
    *(
        "briefs",
        "conversations",
        "estimates",
        "ingestion",
        "instructions",
        "knowledge",
        "locomo",
        "mcp_calls",
        "memories",
    ),
    *("packing", "recall", "storage", "stores", "switching", "waits", "words"),
)


def main() -> None:
    """Run `bench/NAME.py` with the arguments after its name, as `python bench/NAME.py` would."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in NAMES:
        sys.exit(f"bench: name one of {', '.join(NAMES)}, then its options (such as --help).")
    sys.argv = [str(HERE / f"{name}.py"), *sys.argv[2:]]
    sys.path.insert(0, str(HERE))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
