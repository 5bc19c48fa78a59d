"""`python -m memoranda`, for where the command is not on the path."""

from memoranda.surfaces.cli import main

if __name__ == "__main__":
    main()
