"""Projections as a file says them, in TOML."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memoranda.state.crm import PACKS
from memoranda.state.projections import HostState
from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen


def read_state(path: Path) -> HostState:
    """The host's database and projections as the file at `path` declares them.

    `[database]` has `url`, which as a relative path is beside the file, and may have
    `default_tenant`; each `[[projection]]` has the fields of a `Projection`; `packs` names sets that
    come with the product. Raises `Invalid`, saying what is wrong and where.
    """
    try:
        declared = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Invalid(
            f"The projections' file {path} can't be read ({error.strerror}): correct MEMORANDA_STATE."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"The projections' file {path} is no TOML: {error}.") from None
    return _stated(path, declared)


def _stated(path: Path, declared: dict[str, Any]) -> HostState:
    unknown = sorted(set(declared) - {"database", "projection", "packs"})
    database = declared.get("database")
    if unknown or not isinstance(database, dict) or not isinstance(database.get("url"), str):
        what = f"has {unknown[0]!r}, which nobody reads" if unknown else "names no database"
        raise Invalid(
            f"The projections' file {path} {what}: it has [database] with url, packs, and [[projection]]."
        )
    packs = declared.get("packs", [])
    missing = [each for each in packs if each not in PACKS] if isinstance(packs, list) else [packs]
    if missing:
        raise Invalid(
            f"The projections' file {path} asks for the pack {missing[0]!r}; there is {', '.join(PACKS)}."
        )
    packed = [projection.model_dump() for name in packs for projection in PACKS[name]]
    given = {key: value for key, value in database.items() if key != "url"}
    own = declared.get("projection", [])
    try:
        return HostState.model_validate(
            {
                **given,
                "database": _beside(path, database["url"]),
                "projections": [*packed, *own] if isinstance(own, list) else own,
            }
        )
    except ValidationError as error:
        wrong = "; ".join(_told(each, len(packed)) for each in error.errors())
        raise Invalid(f"The projections' file {path} can't be used: correct it. {wrong}.") from None


def _beside(path: Path, url: str) -> str:
    """A file is looked for beside the one that names it, wherever the program was started."""
    if "://" in url or not url:
        return url
    return str(path.parent / Path(url).expanduser())


def _told(error: Any, packed: int) -> str:
    place = [str(each) for each in error["loc"]]
    if place[:1] == ["projections"] and len(place) > 1:
        place = [f"projection {int(place[1]) - packed + 1}", *place[2:]]
    said = misshapen(error).removeprefix("Value error, ").rstrip(".")
    return f"{' '.join(place)}: {said}" if place else said
