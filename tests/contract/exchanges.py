"""Exports and imports in tests: two organizations whose people and agents have the same names outside."""

import json
from typing import Any
from uuid import UUID

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.service import Access
from memoranda.memories.transfer.models import ImportReport
from memoranda.memories.transfer.service import Transfer
from memoranda.storage import Storage
from tests.contract.tenants import Tenant

# What a memory says, and for whom: all that has to survive a way out and in.
SAID = (
    "kind",
    "status",
    "text",
    "title",
    "category",
    "tags",
    "expires_at",
    "pinned",
    "attribute",
    "about",
)


async def named_tenant(storage: Storage, name: str) -> Tenant:
    """An organization whose users have external ids that others use too."""
    access = Access(storage)
    made = await access.create_organization(LOCAL_OPERATOR, name)
    owner = Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)
    return Tenant(
        owner=owner,
        anna=await access.create_user(owner, "Anna", external_id="anna"),
        ben=await access.create_user(owner, "Ben", external_id="ben"),
        scout=await access.create_agent(owner, "scout"),
        clerk=await access.create_agent(owner, "clerk", external_id="the-clerk"),
    )


async def exported(transfer: Transfer, who: Principal, *, history: bool = False) -> list[str]:
    return [line async for line in transfer.export(who, history=history)]


def told(lines: list[str]) -> list[dict[str, Any]]:
    """The lines of an export, less its header."""
    return [json.loads(line) for line in lines[1:]]


def said(lines: list[str]) -> list[dict[str, Any]]:
    """What each line says and for whom, in an order that does not depend on ids."""
    shown = [
        {name: line.get(name) for name in SAID}
        | {
            "user": line["user"] and line["user"]["external_id"],
            "agent": line["agent"] and line["agent"]["slug"],
        }
        for line in told(lines)
        if line["kind"] != "revision"
    ]
    return sorted(shown, key=lambda each: json.dumps(each, sort_keys=True))


def own(*lines: dict[str, Any]) -> str:
    """A file of ours, of memories that say no more than they have to."""
    header = {"format": "memoranda-memories", "version": 1}
    full = [{"kind": "memory", "text": "x", **line} for line in lines]
    return "".join(json.dumps(line) + "\n" for line in (header, *full))


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.taken, report.changed, report.known, report.refused


def refusals(report: ImportReport) -> dict[int, str]:
    """Of each line that was refused and is among the examples, why."""
    return {each.line: each.code or "" for each in report.examples if each.outcome == "refused"}


def stranger_to(tenant: Tenant, user: UUID | None = None) -> Principal:
    return Principal(organization_id=tenant.owner.organization_id, role=Role.MEMBER, user_id=user)
