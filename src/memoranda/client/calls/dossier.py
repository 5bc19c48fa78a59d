"""The dossier: what an organization says of itself, and a user's section of it."""

from collections.abc import Sequence

from memoranda.client.call import Call, Id, given
from memoranda.state.dossier.models import Company, CompanyDossier, Entry, ToldDossier, UserSection


def get_dossier(*, user_id: Id | None = None) -> Call[ToldDossier]:
    """Get the dossier, with a user's section where one is named, and the facts that a model is told of it."""
    return Call("GET", "/v1/dossier", ToldDossier, query=given(user_id=user_id))


def put_dossier(
    expected_version: int,
    *,
    company: Company | None = None,
    services: Sequence[Entry] = (),
    ideal_customer_profiles: Sequence[Entry] = (),
    offers: Sequence[Entry] = (),
) -> Call[CompanyDossier]:
    """Write the organization's part of the dossier as a whole."""
    return Call(
        "PUT",
        "/v1/dossier",
        CompanyDossier,
        body=given(
            company=company,
            services=services,
            ideal_customer_profiles=ideal_customer_profiles,
            offers=offers,
            expected_version=expected_version,
        ),
    )


def get_user_section(user_id: Id) -> Call[UserSection]:
    """Get a user's section of the dossier; an empty one where nothing was written."""
    return Call("GET", "/v1/dossier/users/{user_id}", UserSection, at={"user_id": user_id})


def put_user_section(user_id: Id, text: str, expected_version: int) -> Call[UserSection]:
    """Write a user's section of the dossier; an empty text says nothing any more."""
    return Call(
        "PUT",
        "/v1/dossier/users/{user_id}",
        UserSection,
        at={"user_id": user_id},
        body=given(text=text, expected_version=expected_version),
    )
