"""The dossier, for scripts: what an organization says of itself, and a user's section of it."""

from uuid import UUID

from memoranda.state.dossier.models import CompanyDossier, DossierText, ToldDossier, UserSection
from memoranda.sync.opened import Room


class Dossier(Room):
    """The dossier; each verb is that of `Dossier`."""

    def get(self, *, user_id: UUID | None = None) -> ToldDossier:
        """What was written, and the facts that a model is told of it; see `DossierReader.page`."""
        return self._call(lambda at: at.dossier_reader.page(at.owner, user_id=user_id))

    def put(self, dossier: DossierText, expected_version: int) -> CompanyDossier:
        """Write the organization's part as a whole; see `Dossier.put`."""
        return self._call(lambda at: at.dossier.put(at.owner, dossier, expected_version))

    def get_user(self, user_id: UUID) -> UserSection:
        """A user's section; see `Dossier.get_user`."""
        return self._call(lambda at: at.dossier.get_user(at.owner, user_id))

    def put_user(self, user_id: UUID, text: str, expected_version: int) -> UserSection:
        """Write a user's section; see `Dossier.put_user`."""
        return self._call(lambda at: at.dossier.put_user(at.owner, user_id, text, expected_version))
