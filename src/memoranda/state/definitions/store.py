"""The SQL of definitions and of who sees them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, exists, insert, or_, select, update

from memoranda.access.store import check_subject, no_agent, no_user
from memoranda.state.definitions.models import (
    Definition,
    DefinitionKind,
    DefinitionSummary,
    DefinitionText,
    Node,
    Viewers,
    Visibility,
)
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import agents, definition_viewers, definitions, users
from memoranda.words.errors import Conflict, NotFound
from memoranda.words.ids import new_id
from memoranda.words.text import fold

d, v = definitions.c, definition_viewers.c
END: Final = UUID(int=2**128 - 1)
_FIELDS: Final = [name for name in Definition.model_fields if name != "viewers"]
_DEFINITION: Final = select(*[d[name] for name in _FIELDS], d.visibility)
_SEEN: Final = (
    d.published_at.is_not(None),
    or_(
        d.visibility == Visibility.ORGANIZATION.value,
        exists().where(
            v.definition_id == d.id,
            or_(v.user_id == bindparam("seeing_user"), v.agent_id == bindparam("seeing_agent")),
        ),
    ),
)

ADD: Final = insert(definitions)
CHANGE: Final = (
    update(definitions)
    .where(d.id == bindparam("wanted"))
    .values(
        name=bindparam("new_name"),
        folded_name=bindparam("new_folded_name"),
        summary=bindparam("new_summary"),
        body=bindparam("new_body"),
        agent_id=bindparam("new_agent"),
        nodes=bindparam("new_nodes"),
        visibility=bindparam("new_visibility"),
        version=d.version + 1,
        updated_at=bindparam("now"),
    )
)
SET_PUBLISHED: Final = (
    update(definitions)
    .where(d.id == bindparam("wanted"))
    .values(published_at=bindparam("since"), version=d.version + 1, updated_at=bindparam("now"))
)
REMOVE: Final = delete(definitions).where(d.id == bindparam("wanted"))
BY_ID: Final = _DEFINITION.where(d.id == bindparam("wanted"))
HELD: Final = BY_ID.with_for_update()
SEEN_BY_ID: Final = BY_ID.where(*_SEEN)
PAGE: Final = (
    _DEFINITION.where(d.id < bindparam("before"), one_of(d.kind, "kinds"))
    .order_by(d.id.desc())
    .limit(bindparam("most"))
)
SEEN_PAGE: Final = PAGE.where(*_SEEN)
SUMMARIES: Final = (
    select(*[d[name] for name in DefinitionSummary.model_fields])
    .where(one_of(d.kind, "kinds"), *_SEEN)
    .order_by(d.folded_name, d.id)
    .limit(bindparam("most"))
)

ADD_VIEWER: Final = insert(definition_viewers)
DROP_VIEWERS: Final = delete(definition_viewers).where(v.definition_id == bindparam("wanted"))
VIEWERS: Final = (
    select(v.definition_id, v.user_id, v.agent_id)
    .where(one_of(v.definition_id, "ids"))
    .order_by(v.user_id, v.agent_id)
)
USERS_THERE: Final = select(users.c.id).where(one_of(users.c.id, "ids"))
AGENTS_THERE: Final = select(agents.c.id).where(one_of(agents.c.id, "ids"))
SLUGS_THERE: Final = select(agents.c.slug).where(one_of(agents.c.slug, "slugs"))


class Seer(NamedTuple):
    """Who looks: what is for this user or for this agent, each of which may be nobody."""

    user_id: UUID | None
    agent_id: UUID | None


def add(tx: Transaction, kind: DefinitionKind, slug: str, text: DefinitionText) -> Definition:
    """Keep a new definition, which nobody but owners and readers sees yet. Raises `NotFound` for who is named and is not there."""
    _check_named(tx, text)
    definition_id = new_id()
    tx.run(
        ADD,
        id=definition_id,
        kind=kind.value,
        slug=slug,
        agent_id=text.agent_id,
        version=1,
        created_at=tx.now,
        updated_at=tx.now,
        **_columns(text),
    )
    _set_viewers(tx, definition_id, text.viewers)
    return get(tx, definition_id)


def held(tx: Transaction, definition_id: UUID, expected: int | None) -> Definition:
    """The definition, which nobody else changes until the commit.

    Raises `NotFound`, and `Conflict` unless it is at the version `expected`, where one is.
    """
    found = _whole(tx, _found(definition_id, tx.one(HELD, wanted=definition_id)))
    if expected is not None and found.version != expected:
        raise Conflict(
            f"The definition has changed since: it is at version {found.version}. "
            "Read it, then change it again.",
            version=found.version,
        )
    return found


def change(tx: Transaction, definition_id: UUID, text: DefinitionText) -> Definition:
    """Write what is said of a definition that is held. Raises `NotFound` as `add`."""
    _check_named(tx, text)
    new = {f"new_{name}": value for name, value in _columns(text).items()}
    tx.run(CHANGE, wanted=definition_id, new_agent=text.agent_id, now=tx.now, **new)
    tx.run(DROP_VIEWERS, wanted=definition_id)
    _set_viewers(tx, definition_id, text.viewers)
    return get(tx, definition_id)


def set_published(tx: Transaction, definition_id: UUID, *, published: bool) -> Definition:
    """Tell runs of a definition that is held, or tell them no more."""
    since = tx.now if published else None
    tx.run(SET_PUBLISHED, wanted=definition_id, since=since, now=tx.now)
    return get(tx, definition_id)


def remove(tx: Transaction, definition_id: UUID) -> None:
    """Take it away with its viewers."""
    tx.run(REMOVE, wanted=definition_id)


def get(tx: Transaction, definition_id: UUID) -> Definition:
    """The definition. Raises `NotFound`."""
    return _whole(tx, _found(definition_id, tx.one(BY_ID, wanted=definition_id)))


def get_seen(tx: Transaction, definition_id: UUID, seer: Seer) -> Definition:
    """The definition, where this user or agent sees it; of who else does, it tells nothing. Raises `NotFound`."""
    row = tx.one(SEEN_BY_ID, wanted=definition_id, **_seeing(seer))
    return _for_seer(_whole(tx, _found(definition_id, row)), seer)


def page(tx: Transaction, kinds: Sequence[str], before: UUID | None, most: int) -> list[Definition]:
    """Definitions, the newest first."""
    return _all(tx, tx.all(PAGE, kinds=kinds, before=before or END, most=most))


def page_seen(
    tx: Transaction, kinds: Sequence[str], before: UUID | None, most: int, seer: Seer
) -> list[Definition]:
    """Those that this user or agent sees."""
    rows = tx.all(SEEN_PAGE, kinds=kinds, before=before or END, most=most, **_seeing(seer))
    return [_for_seer(each, seer) for each in _all(tx, rows)]


def summaries(
    tx: Transaction, kinds: Sequence[str], most: int, seer: Seer
) -> list[DefinitionSummary]:
    """What runs are told of published definitions that this user or agent sees, by name."""
    rows = tx.all(SUMMARIES, kinds=kinds, most=most, **_seeing(seer))
    return [DefinitionSummary.model_validate(row._asdict()) for row in rows]


def check_slugs(tx: Transaction, nodes: Iterable[Node]) -> None:
    """Raise `NotFound` unless the organization has every agent that a node names."""
    slugs = list(dict.fromkeys(node.agent for node in nodes if node.agent is not None))
    there = {row.slug for row in tx.all(SLUGS_THERE, slugs=slugs)} if slugs else set()
    for slug in slugs:
        if slug not in there:
            raise no_agent(slug)


def _columns(text: DefinitionText) -> dict[str, Any]:
    return {
        "name": text.name,
        "folded_name": fold(text.name),
        "summary": text.summary,
        "body": text.body,
        "nodes": [node.model_dump() for node in text.nodes],
        "visibility": (
            Visibility.ORGANIZATION if text.viewers is None else Visibility.VIEWERS
        ).value,
    }


def _check_named(tx: Transaction, text: DefinitionText) -> None:
    check_subject(tx, user_id=None, agent_id=text.agent_id)
    if text.viewers is not None:
        _check_there(tx, USERS_THERE, text.viewers.user_ids, no_user)
        _check_there(tx, AGENTS_THERE, text.viewers.agent_ids, no_agent)


def _check_there(
    tx: Transaction, statement: Any, ids: Sequence[UUID], refusal: Callable[[object], NotFound]
) -> None:
    there = {row.id for row in tx.all(statement, ids=ids)} if ids else set()
    for each in ids:
        if each not in there:
            raise refusal(each)


def _set_viewers(tx: Transaction, definition_id: UUID, viewers: Viewers | None) -> None:
    if viewers is None:
        return
    named = [Seer(user, None) for user in viewers.user_ids]
    named += [Seer(None, agent) for agent in viewers.agent_ids]
    tx.run_many(
        ADD_VIEWER,
        [{"id": new_id(), "definition_id": definition_id, **each._asdict()} for each in named],
    )


def _all(tx: Transaction, rows: Sequence[Row]) -> list[Definition]:
    limited = [row.id for row in rows if row.visibility == Visibility.VIEWERS.value]
    named: dict[UUID, Viewers] = {each: Viewers() for each in limited}
    for row in tx.all(VIEWERS, ids=limited) if limited else ():
        viewers = named[row.definition_id]
        if row.user_id is not None:
            viewers.user_ids.append(row.user_id)
        else:
            viewers.agent_ids.append(row.agent_id)
    return [_shown(row, named.get(row.id)) for row in rows]


def _whole(tx: Transaction, row: Row) -> Definition:
    return _all(tx, [row])[0]


def _shown(row: Row, viewers: Viewers | None) -> Definition:
    values = row._asdict()
    del values["visibility"]
    return Definition.model_validate({**values, "viewers": viewers})


def _seeing(seer: Seer) -> dict[str, UUID | None]:
    return {"seeing_user": seer.user_id, "seeing_agent": seer.agent_id}


def _for_seer(definition: Definition, seer: Seer) -> Definition:
    if definition.viewers is None:
        return definition
    own = Viewers(
        user_ids=[each for each in definition.viewers.user_ids if each == seer.user_id],
        agent_ids=[each for each in definition.viewers.agent_ids if each == seer.agent_id],
    )
    return definition.model_copy(update={"viewers": own})


def _found(definition_id: UUID, row: Row | None) -> Row:
    if row is None:
        raise NotFound(
            f"There is no definition {definition_id}. A list of definitions shows the ids that there are.",
            definition=str(definition_id),
        )
    return row
