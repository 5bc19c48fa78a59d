"""A few rows of two organizations, which the storage tests write, read and attack."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import bindparam, insert, select

from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.storage.tables import (
    knowledge_chunks,
    knowledge_sources,
    knowledge_uploads,
    organizations,
    users,
)
from memoranda.words.ids import new_id

NEW_ORGANIZATION = insert(organizations)
NEW_USER = insert(users)
NEW_SOURCE = insert(knowledge_sources)
NEW_CHUNK = insert(knowledge_chunks)
NEW_UPLOAD = insert(knowledge_uploads)
NAMES = select(users.c.name).order_by(users.c.name)
USER = select(users.c.id, users.c.name).where(users.c.id == bindparam("user"))


@dataclass(frozen=True)
class Two:
    """Two organizations, `ours` and `theirs`, each with a user, a source and a chunk of it."""

    ours: UUID
    theirs: UUID
    our_user: UUID
    their_user: UUID
    our_source: UUID
    their_source: UUID


def add_organization(tx: Transaction, name: str) -> None:
    tx.run(NEW_ORGANIZATION, name=name, owner_id=new_id(), created_at=tx.now)


def add_user(tx: Transaction, name: str, external_id: str | None = None) -> UUID:
    user = new_id()
    tx.run(NEW_USER, id=user, name=name, external_id=external_id, created_at=tx.now)
    return user


def add_source(tx: Transaction, title: str) -> UUID:
    source = new_id()
    tx.run(
        NEW_SOURCE,
        id=source,
        kind="text",
        title=title,
        digest="0" * 64,
        status="pending",
        created_at=tx.now,
        updated_at=tx.now,
    )
    tx.run(NEW_UPLOAD, source_id=source, content=title.encode())
    tx.run(NEW_CHUNK, id=new_id(), source_id=source, ordinal=0, text=title, tokens=1)
    return source


def names(tx: Transaction) -> list[str]:
    return [row.name for row in tx.all(NAMES)]


async def new_organization(storage: Storage, name: str = "An organization") -> UUID:
    organization = new_id()
    await storage.write(organization, add_organization, name)
    return organization


async def two_organizations(storage: Storage) -> Two:
    ours = await new_organization(storage, "ours")
    theirs = await new_organization(storage, "theirs")
    await storage.write(PLATFORM, add_source, "everybody's")
    return Two(
        ours,
        theirs,
        our_user=await storage.write(ours, add_user, "Our Ana", "ana"),
        their_user=await storage.write(theirs, add_user, "Their Ben", "ben"),
        our_source=await storage.write(ours, add_source, "ours"),
        their_source=await storage.write(theirs, add_source, "theirs"),
    )
