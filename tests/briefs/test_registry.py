"""One reader per name, and none that could be told whose rows to read."""

from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel, ConfigDict

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import NoOptions, RunHistoryOptions, SourceOptions
from memoranda.briefs.policies import check_policy
from memoranda.briefs.registry import ContextSourceRegistry
from memoranda.words.errors import PolicyRejected


@dataclass(frozen=True)
class Reader:
    name: str
    options_schema: type[BaseModel] = NoOptions
    kind: ContextKind = "memory"
    items: list[ContextItem] = field(default_factory=list)

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        return self.items


class Loose(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Open(BaseModel):
    model_config = ConfigDict(strict=True)


class Filtering(SourceOptions):
    user_id: str = ""


class Deeper(SourceOptions):
    depth: int = 1


def test_two_sources_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Two context sources are named 'memory'"):
        ContextSourceRegistry([Reader("memory"), Reader("memory")])


def test_a_name_outside_the_ten_is_refused() -> None:
    with pytest.raises(ValueError, match="no context source"):
        ContextSourceRegistry([Reader("crm")])


@pytest.mark.parametrize("schema", [Loose, Open, Filtering])
def test_a_schema_that_is_open_lax_or_filters_is_refused(schema: type[BaseModel]) -> None:
    with pytest.raises(ValueError, match="options of 'memory' must"):
        ContextSourceRegistry([Reader("memory", schema)])


def test_readers_are_found_by_name_and_listed_in_class_order() -> None:
    memory, application = Reader("memory"), Reader("application")
    registry = ContextSourceRegistry([memory, application])
    assert registry.get("memory") is memory
    assert registry.get("knowledge") is None
    assert registry.names == ("application", "memory")


def test_a_policy_is_judged_by_the_schema_of_the_reader_where_there_is_one() -> None:
    schemas = ContextSourceRegistry([Reader("memory", Deeper)]).option_schemas
    assert schemas["run_history"] is RunHistoryOptions
    source = {"name": "memory", "token_budget": 1, "options": {"depth": 2}}
    raw = {"sources": [source], "total_token_budget": 1}
    assert check_policy(raw, schemas).sources[0].options == {"depth": 2}
    with pytest.raises(PolicyRejected):
        check_policy(raw)
