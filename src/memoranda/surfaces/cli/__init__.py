"""The command line: the same services as every surface, for people at a terminal and for scripts."""


def main() -> None:
    """Run the `memoranda` command with the arguments of this process; ends in an exit code."""
    from memoranda.surfaces.cli.app import app

    app()
