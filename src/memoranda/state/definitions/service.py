"""The verbs of definitions: write, publish, read and remove them."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for
from memoranda.runs.store import record_activity
from memoranda.state.definitions import store
from memoranda.state.definitions.checking import checked, slug_input, version_input
from memoranda.state.definitions.models import (
    CheckTools,
    Definition,
    DefinitionKind,
    DefinitionText,
)
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Conflict
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 200
_LISTING: Final = "definitions"


@checks_shapes
class Definitions:
    """What an organization's agents, workflows and skills are for.

    `check_tools` says of a workflow's node whether it may call its tools; it is asked before
    anything of a workflow is published.
    """

    def __init__(self, storage: Storage, check_tools: CheckTools) -> None:
        self._storage = storage
        self._check_tools = check_tools

    async def create(
        self, who: Principal, kind: DefinitionKind, slug: str, text: DefinitionText
    ) -> Definition:
        """Make a definition, which is told to nobody before it is published. For owners.

        Raises `Conflict` for a slug that another of its kind has, `NotFound` for an agent or
        viewer that is not there, `Invalid` and `OverLimit` with the field.
        """
        organization = organization_for(who, Permission.WRITE_STATE)
        slug, text = slug_input(slug), checked(kind, text)
        try:
            return await self._storage.write(organization, _create, who, kind, slug, text)
        except ConstraintViolated as broken:
            if broken.name != "one_definition_per_slug":
                raise
            raise Conflict(
                f"There is a definition of kind {kind} with the slug {slug!r} already: change that one, "
                "or choose another slug.",
                field="slug",
                value=slug,
            ) from None

    async def update(
        self, who: Principal, definition_id: UUID, text: DefinitionText, expected_version: int
    ) -> Definition:
        """Say all of a definition anew; its kind, slug and publishing stay. For owners.

        Raises as `create`, `Conflict` with the current version where it has changed since, and
        for a published one as `publish`.
        """
        organization = organization_for(who, Permission.WRITE_STATE)
        expected = version_input(expected_version)
        return await self._storage.write(
            organization, self._update, who, definition_id, text, expected
        )

    async def publish(
        self, who: Principal, definition_id: UUID, *, expected_version: int | None = None
    ) -> Definition:
        """Let runs be told of the definition from now on; one that is published stays so. For owners.

        Raises `NotFound` for an unknown definition, node's agent or tool, `Conflict` where it
        is not at `expected_version`, and what the check of tools raises: a node
        that writes memories needs an agent.
        """
        organization = organization_for(who, Permission.WRITE_STATE)
        expected = None if expected_version is None else version_input(expected_version)
        return await self._storage.write(organization, self._publish, who, definition_id, expected)

    async def unpublish(self, who: Principal, definition_id: UUID) -> Definition:
        """Tell runs of the definition no more. For owners. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_STATE)
        return await self._storage.write(organization, _unpublish, who, definition_id)

    async def get(self, who: Principal, definition_id: UUID) -> Definition:
        """The definition. Owners and readers see all, others what is published for them. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_STATE)
        if _sees_all(who):
            return await self._storage.read(organization, store.get, definition_id)
        return await self._storage.read(organization, store.get_seen, definition_id, _seer(who))

    async def page(
        self,
        who: Principal,
        *,
        kind: DefinitionKind | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Definition]:
        """Those that `get` answers, the newest first, at most `limit` (1 to 200).

        Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_STATE)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        kinds = [each.value for each in ([kind] if kind else DefinitionKind)]
        if _sees_all(who):
            found = await self._storage.read(organization, store.page, kinds, before, limit + 1)
        else:
            found = await self._storage.read(
                organization, store.page_seen, kinds, before, limit + 1, _seer(who)
            )
        return cut_page(_LISTING, found, limit)

    async def remove(self, who: Principal, definition_id: UUID) -> None:
        """Take the definition away. For owners. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_STATE)
        await self._storage.write(organization, _remove, who, definition_id)

    def _update(
        self,
        tx: Transaction,
        who: Principal,
        definition_id: UUID,
        text: DefinitionText,
        expected: int,
    ) -> Definition:
        found = store.held(tx, definition_id, expected)
        text = checked(found.kind, text)
        if found.published_at is not None:
            self._check_nodes(tx, text)
        changed = store.change(tx, definition_id, text)
        _record(tx, "definition_changed", who, changed)
        return changed

    def _publish(
        self, tx: Transaction, who: Principal, definition_id: UUID, expected: int | None
    ) -> Definition:
        found = store.held(tx, definition_id, expected)
        self._check_nodes(tx, found)
        if found.published_at is not None:
            return found
        published = store.set_published(tx, definition_id, published=True)
        _record(tx, "definition_published", who, published)
        return published

    def _check_nodes(self, tx: Transaction, text: DefinitionText) -> None:
        for node in text.nodes:
            self._check_tools(node.id, node.tools, node.agent)
        store.check_slugs(tx, text.nodes)


def _sees_all(who: Principal) -> bool:
    return who.role in {Role.OWNER, Role.READ_ONLY}


def _seer(who: Principal) -> store.Seer:
    return store.Seer(who.user_id, who.agent_id)


def _create(
    tx: Transaction, who: Principal, kind: DefinitionKind, slug: str, text: DefinitionText
) -> Definition:
    made = store.add(tx, kind, slug, text)
    _record(tx, "definition_created", who, made)
    return made


def _unpublish(tx: Transaction, who: Principal, definition_id: UUID) -> Definition:
    found = store.held(tx, definition_id, None)
    if found.published_at is None:
        return found
    withdrawn = store.set_published(tx, definition_id, published=False)
    _record(tx, "definition_unpublished", who, withdrawn)
    return withdrawn


def _remove(tx: Transaction, who: Principal, definition_id: UUID) -> None:
    found = store.held(tx, definition_id, None)
    store.remove(tx, definition_id)
    _record(tx, "definition_removed", who, found)


def _record(tx: Transaction, what: str, who: Principal, definition: Definition) -> None:
    record_activity(
        tx, what, subject_id=definition.id, user_id=who.user_id, kind=definition.kind.value
    )
