"""The options of each of the ten sources: closed, strict, and blind to tenancy.

A schema is here for every name, also where no reader is registered, so that a policy is judged
alike in every deployment. An option may widen what a source shows of the subject's own rows; none
may say whose rows those are.
"""

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DefinitionKind = Literal["agent", "workflow", "skill"]


class SourceOptions(BaseModel):
    """The base of every schema: unknown keys and coercion are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NoOptions(SourceOptions):
    """The schema of a source that takes none."""


class ConversationOptions(SourceOptions):
    """`include_summary`: open with the summary where the conversation was compacted."""

    include_summary: bool = True


class DossierOptions(SourceOptions):
    """Which parts of the company dossier are shown."""

    include_user: bool = False
    include_documents: bool = True


class DefinitionSummaryOptions(SourceOptions):
    """`kinds`: which kinds of published definitions are listed."""

    kinds: list[DefinitionKind] = ["agent", "workflow", "skill"]


class KnowledgeOptions(SourceOptions):
    """Which scopes are searched; with neither, nothing is found."""

    include_platform: bool = False
    include_organization: bool = False


class RunHistoryOptions(SourceOptions):
    """`lookback_hours`: how far back runs are looked for, 1 hour to 30 days."""

    lookback_hours: int = Field(default=24, ge=1, le=720)


OPTION_SCHEMAS: Mapping[str, type[BaseModel]] = {
    "conversation": ConversationOptions,
    "outreach_thread": NoOptions,
    "outreach": NoOptions,
    "personal_memory": NoOptions,
    "application": NoOptions,
    "dossier": DossierOptions,
    "definition_summary": DefinitionSummaryOptions,
    "knowledge": KnowledgeOptions,
    "memory": NoOptions,
    "run_history": RunHistoryOptions,
}

_FILTERED = {
    "account",
    "customer",
    "member",
    "org",
    "organisation",
    "organization",
    "owner",
    "row",
    "subject",
    "tenant",
    "user",
    "workspace",
}
_ID_ENDING = re.compile(r"_?(id|ids|uuid|uuids|key|keys|ref|refs|s)$")


def is_filter_name(name: str) -> bool:
    """Say whether an option is named like a tenant, user or row filter.

    `include_user` is no filter: it shows or hides a section of the subject's own.
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower().replace("-", "_")
    words = snake.split("_")
    if words[0] == "include":
        return False
    if {"filter", "filters", "where"} & set(words):
        return True
    return snake in _FILTERED or _ID_ENDING.sub("", snake) in _FILTERED
