"""The six commands of the memory tool, each answered as its protocol has it."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from memoranda.integrations.anthropic.paths import Path, folders_of, read_path
from memoranda.integrations.anthropic.shelf import Kept, Shelf, Written, free, here
from memoranda.integrations.anthropic.texts import inserted, listing, missing, replaced, shown
from memoranda.words.errors import Conflict, Invalid, MemorandaError, NotFound, Refused

_WAITS = "Nothing is changed yet. {}"
_PARTLY = "{done} of {all} files are done. {rest}"


async def view(shelf: Shelf, given: str, view_range: Sequence[int] | None) -> str:
    """A folder with what is in it, or a file with its lines."""
    path = read_path(given)
    item = await shelf.find(path) if path.parts else None
    if item is not None:
        return shown(path, await shelf.text(item), view_range)
    below = [each for each in await shelf.items() if each.path.within(path)]
    if path.parts and not below:
        raise missing(path)
    folders = {each for each in folders_of(item.path for item in below) if each.within(path)}
    sizes = [(each.path, each.size) for each in below]
    return listing(path, sizes, folders, chars=shelf.reply_chars)


async def create(shelf: Shelf, given: str, text: str) -> str:
    """A new file. A context file is there already: it is written where it is empty."""
    path = read_path(given)
    if not path.parts:
        raise Invalid("Cannot create the /memories directory itself")
    item = await shelf.find(path)
    if isinstance(item, Written) and not item.size:
        waits = await shelf.write(item, text)
    elif item is not None:
        raise Conflict(f"File {path} already exists")
    else:
        free(path, await shelf.items())
        waits = await shelf.create(path, text)
    return _said([waits], f"File created successfully at: {path}")


async def str_replace(shelf: Shelf, given: str, old: str, new: str) -> str:
    """A part of a file that stands there once becomes another."""
    path, item, text = await _file(shelf, given)
    changed, said = replaced(path, text, old, new)
    return said if changed == text else _said([await shelf.write(item, changed)], said)


async def insert(shelf: Shelf, given: str, line: int, new: str) -> str:
    """Lines come after a line of a file."""
    path, item, text = await _file(shelf, given)
    changed = inserted(text, line, new)
    return _said([await shelf.write(item, changed)], f"The file {path} has been edited.")


async def delete(shelf: Shelf, given: str) -> str:
    """A file, or all that is in a folder, is forgotten."""
    path = read_path(given)
    if not path.parts:
        raise Refused("Cannot delete the /memories directory itself")
    there = _there(path, await shelf.items())
    waits = await _each([partial(shelf.forget, item) for item in there])
    return _said(waits, f"Successfully deleted {path}")


async def rename(shelf: Shelf, old: str, new: str) -> str:
    """A file, or all that is in a folder, is kept under another path."""
    source, target = read_path(old), read_path(new)
    if not source.parts:
        raise Refused("Cannot rename the /memories directory itself")
    if not target.parts:
        raise Conflict(f"The destination {target} already exists")
    items = await shelf.items()
    moved = _there(source, items)
    if target.within(source):
        raise Invalid(f"The directory {source} can't be moved into itself.")
    rest = [each for each in items if each not in moved]
    if any(each.path == target for each in items) or any(each.path.within(target) for each in rest):
        raise Conflict(f"The destination {target} already exists")
    free(target, rest)
    alone = len(moved) == 1 and not moved[0].path.within(source)
    paths = [target if alone else item.path.moved(source, target) for item in moved]
    for path in paths:
        read_path(str(path))
    pairs = zip(moved, paths, strict=True)
    waits = await _each([partial(shelf.move, item, path) for item, path in pairs])
    return _said(waits, f"Successfully renamed {source} to {target}")


async def clear(shelf: Shelf) -> str:
    """All files that were created here are forgotten; context files and other memories stay."""
    items = [each for each in await shelf.items() if isinstance(each, Kept)]
    created = [each for each in items if each.path.fixed is None]
    waits = await _each([partial(shelf.forget, each) for each in created])
    return _said(waits, "All memory cleared")


async def _each(changes: Sequence[Callable[[], Awaitable[str | None]]]) -> list[str | None]:
    """Do one after another; what each waits for. Where one is refused, it is told how many were done."""
    waits: list[str | None] = []
    for change in changes:
        try:
            waits.append(await change())
        except MemorandaError as error:
            done = waits.count(None)
            if not done:
                raise
            told = _PARTLY.format(done=done, all=len(changes), rest=error.message)
            raise Refused(told) from error
    return waits


async def _file(shelf: Shelf, given: str) -> tuple[Path, Kept | Written, str]:
    path = read_path(given)
    item = await shelf.find(path)
    if item is None:
        below = any(each.path.within(path) for each in await shelf.items())
        if below or not path.parts:
            raise Invalid(f"The path {path} is not a file.")
        raise missing(path)
    return path, item, await shelf.text(item)


def _there(path: Path, items: list[Kept | Written]) -> list[Kept]:
    try:
        return here(path, items)
    except NotFound:
        raise NotFound(f"The path {path} does not exist") from None


def _said(waits: Sequence[str | None], done: str) -> str:
    waiting = [each for each in waits if each is not None]
    if not waiting:
        return done
    if len(waiting) == len(waits):
        return _WAITS.format(waiting[0])
    return _PARTLY.format(done=len(waits) - len(waiting), all=len(waits), rest=waiting[0])
