"""Definitions, for scripts: what agents, workflows and skills are for."""

from uuid import UUID

from memoranda.state.definitions.models import Definition, DefinitionKind, DefinitionText
from memoranda.sync.opened import Room
from memoranda.words.page import Page


class Definitions(Room):
    """Definitions; each verb is that of `Definitions`."""

    def create(self, kind: DefinitionKind, slug: str, text: DefinitionText) -> Definition:
        """Make a definition, which is told to nobody yet; see `Definitions.create`."""
        return self._call(lambda at: at.definitions.create(at.owner, kind, slug, text))

    def update(
        self, definition_id: UUID, text: DefinitionText, expected_version: int
    ) -> Definition:
        """Say all of a definition anew; see `Definitions.update`."""
        return self._call(
            lambda at: at.definitions.update(at.owner, definition_id, text, expected_version)
        )

    def publish(self, definition_id: UUID, *, expected_version: int | None = None) -> Definition:
        """Let runs be told of it; see `Definitions.publish`."""
        return self._call(
            lambda at: at.definitions.publish(
                at.owner, definition_id, expected_version=expected_version
            )
        )

    def unpublish(self, definition_id: UUID) -> Definition:
        """Tell runs of it no more; see `Definitions.unpublish`."""
        return self._call(lambda at: at.definitions.unpublish(at.owner, definition_id))

    def get(self, definition_id: UUID) -> Definition:
        """A definition; see `Definitions.get`."""
        return self._call(lambda at: at.definitions.get(at.owner, definition_id))

    def list(
        self, *, kind: DefinitionKind | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[Definition]:
        """A page of definitions, the newest first; see `Definitions.page`."""
        return self._call(
            lambda at: at.definitions.page(at.owner, kind=kind, limit=limit, cursor=cursor)
        )

    def remove(self, definition_id: UUID) -> None:
        """Take a definition away; see `Definitions.remove`."""
        self._call(lambda at: at.definitions.remove(at.owner, definition_id))
